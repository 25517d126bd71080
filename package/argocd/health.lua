-- Health of a Koldun composite or claim, for Argo CD. "make generate" puts the
-- table "final" before this script: the reasons that waiting does not change.

local found = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, c in ipairs(obj.status.conditions) do
    found[c.type] = c
  end
end

local function health(status, message)
  return { status = status, message = message or "" }
end

local function say(c)
  if c.message ~= nil and c.message ~= "" then
    return c.reason .. ": " .. c.message
  end
  return c.reason
end

-- If Crossplane cannot apply the object, nothing else matters.
local synced = found["Synced"]
if synced ~= nil and synced.status == "False" then
  return health("Degraded", say(synced))
end

local serving = found["Serving"]
if serving == nil or serving.status == "Unknown" then
  return health("Progressing", "Waiting for Crossplane to compose it")
end

-- While a composite waits, it observes its generation late to save writes.
if serving.status == "False" and not final[serving.reason] then
  return health("Progressing", say(serving))
end

-- The observed generation of a claim is that of its composite, so this check
-- works for composites only.
local claim = obj.spec ~= nil and obj.spec.resourceRef ~= nil
if not claim and obj.metadata.generation ~= nil and obj.status.observedGeneration ~= nil
    and obj.status.observedGeneration < obj.metadata.generation then
  return health("Progressing", "Waiting for the newest spec to be composed")
end

if serving.status == "False" then
  return health("Degraded", say(serving))
end

local ready = found["Ready"]
if ready ~= nil and ready.status == "False" then
  return health("Progressing", say(ready))
end

-- What the cluster lacks keeps nobody from being served.
local around = found["Prerequisites"]
if around ~= nil and around.status == "False" then
  return health("Healthy", serving.message .. ". " .. around.message)
end
return health("Healthy", serving.message)
