-- Health of a managed resource of Koldun, for Argo CD. "make generate" copies this
-- script for each managed kind.

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

local synced = found["Synced"]
if synced ~= nil and synced.status == "False" then
  if synced.reason == "ReconcilePaused" then
    return health("Suspended", "Reconciliation is paused by the annotation crossplane.io/paused")
  end
  return health("Degraded", say(synced))
end

local ready = found["Ready"]
if ready == nil then
  return health("Progressing", "Waiting for the provider to observe it")
end
if ready.status ~= "True" then
  return health("Progressing", say(ready))
end
if obj.metadata.generation ~= nil and synced ~= nil and synced.observedGeneration ~= nil
    and synced.observedGeneration < obj.metadata.generation then
  return health("Progressing", "Waiting for the provider to observe the newest spec")
end
return health("Healthy", ready.message)
