"""Training text for tools and JSON answers: calls, their results, and objects filled from a question."""

import json
import re

import data

REQUESTS = ["Answer as JSON: {k}", "Answer as JSON with {k}.", "Reply in JSON with {k}", "Give me {k} as JSON", "Write JSON with {k}", "JSON: {k}", "Extract {k} as JSON."]
OPEN_REQUESTS = ["Answer as JSON.", "Reply in JSON.", "As JSON.", "Write this as JSON.", "Extract the data.", "Extract the information as JSON.", "", ""]
BEFORE = ["Extract: ", "Text: ", "Please extract the data. ", ""]


def signature(name, parameters):
    """A tool as the chat template writes it. parameters are (name, type, required)."""
    return name + "(" + ", ".join(f"{p}{'' if must else '?'}: {kind}" for p, kind, must in parameters) + ")"


def system(text, signatures):
    """The system turn with tools, as the chat template writes it."""
    return (text + "\n\n" if text else "") + "<tools>\n" + "\n".join(signatures) + "\n</tools>"


def call(name, arguments):
    return '<tool_call>\n{"name": "' + name + '", "arguments": ' + json.dumps(arguments) + "}\n</tool_call>"


def response(text):
    return "<tool_response>\n" + text + "\n</tool_response>"


def answer(name, result):
    """What the model says about a result: the tool and the values without the signs of JSON."""
    return f"{name} says: {spoken(result)}."


def spoken(result):
    if isinstance(result, dict):
        return ", ".join(f"{k} {spoken(v)}" for k, v in result.items())
    return str(result)


class Texts:
    """tools.txt, with the words to train or those to measure with."""

    def __init__(self, held):
        self.lists, self.tools, self.facts = {}, [], []
        for block in data.blocks("tools.txt"):
            if block[0][0] == "T":
                self.tools.append(self.tool(block))
            for kind, text in block:
                if kind == "F":
                    key, sort, sentences = text.split(" | ")
                    self.facts.append((key, sort, sentences.split("; ")))
                elif kind not in "TQR":
                    self.lists[kind] = [w for w in re.split("; " if ";" in text else ", ", text)]
        for kind, words in self.lists.items():
            chosen = [w.rstrip("*") for w in words if w.endswith("*") == held]
            self.lists[kind] = chosen or [w for w in words if not w.endswith("*")]

    @staticmethod
    def tool(block):
        (head,) = [t for k, t in block if k == "T"]
        name, inside = head[:-1].split("(", 1)
        parameters = [p.split(": ") for p in inside.split(", ") if p]
        parameters = [(p.rstrip("?"), kind, not p.endswith("?")) for p, kind in parameters]
        (fields,) = [t.split(", ") for k, t in block if k == "R"]
        return name, parameters, [t for k, t in block if k == "Q"], fields


class Sampler(data.Sampler):
    """Draws conversations with tools and questions for JSON. Learned text stands in (text, learn) pairs."""

    def __init__(self, tokenizer, seed, held=False):
        super().__init__(tokenizer, seed)
        self.texts = Texts(held)
        self.held_words = held

    # Tools

    def made(self):
        """A tool made of words."""
        rng, lists = self.rng, self.texts.lists
        if rng.random() < 0.3:
            verb, noun, key = rng.choice(lists["actions"]), rng.choice(lists["things"]), rng.choice(lists["keys"])
            asks = ["{verb} the {noun} {x}", "Please {verb} the {noun} {x}", "{verb} {noun} {x}", "Can you {verb} the {noun} {x}?"]
        else:
            verb, noun, key = rng.choice(lists["verbs"]), rng.choice(lists["nouns"]), rng.choice(lists["keys"])
            asks = lists["asks"]
        asks = [a.replace("{verb}", verb).replace("{noun}", noun).replace("{x}", "{" + key + "}") for a in asks]
        asks = [a[:1].upper() + a[1:] if rng.random() < 0.7 else a for a in asks]
        parameters = [(key, "string", True)]
        more = rng.random()
        if more < 0.25:
            number = rng.choice([n for n in lists["numbers"] if n != key])
            parameters.append((number, rng.choice(["integer", "number"]), rng.random() < 0.5))
            ways = [" with " + number + " {" + number + "}", " for {" + number + "} " + number, " and " + number + " {" + number + "}"]
        elif more < 0.4:
            choice, values = rng.choice(lists["choices"]).split(" = ")
            parameters.append((choice, values, rng.random() < 0.5))
            ways = [" with " + choice + " {" + choice + "}", " in {" + choice + "}", ", {" + choice + "}"]
        if len(parameters) > 1:
            longer = [a.rstrip("?") + rng.choice(ways) for a in asks]
            asks = longer if parameters[1][2] else longer + asks
        style = rng.random()
        name = verb + "_" + noun if style < 0.75 else verb + noun.capitalize() if style < 0.9 else noun
        return name, parameters, asks, rng.sample(lists["fields"], rng.choice([1, 1, 2]))

    def tool(self):
        return self.rng.choice(self.texts.tools) if self.rng.random() < 0.5 else self.made()

    def phrase(self, most):
        rng = self.rng
        return " ".join(self.thing() if rng.random() < 0.4 else rng.choice(self.texts.lists["words"]) for _ in range(rng.randint(1, most)))

    def value(self, name, kind):
        rng = self.rng
        if "|" in kind:
            return rng.choice(kind.split("|"))
        if kind in ("integer", "number"):
            return rng.randrange(rng.choice([10, 100, 100, 1000])) if kind == "integer" or rng.random() < 0.9 else rng.randrange(1000) / 10
        if name in ("city", "location", "place") and rng.random() < 0.85:
            return rng.choice(self.texts.lists["cities"])
        if name in ("text", "query"):
            return self.phrase(3)
        draw = rng.random()
        if draw < 0.35:
            return rng.choice(self.names)
        if draw < 0.5:
            return rng.choice(self.texts.lists["cities"])
        return self.phrase(2) if draw < 0.85 else self.thing().capitalize()

    def asked(self, tool):
        """A question for a tool, and the arguments that it gives."""
        name, parameters, asks, _ = tool
        ask = self.rng.choice(asks)
        found = {p: self.value(p, kind) for p, kind, _ in parameters if "{" + p + "}" in ask}
        question = ask
        for p, v in found.items():
            question = question.replace("{" + p + "}", str(v))
        if self.rng.random() < 0.1:
            question = self.rng.choice(["Please ", "Hey, ", "Can you tell me: ", "Koldun, "]) + data.lower_first(question)
        if self.rng.random() < 0.15:
            question = question.rstrip("?")
        return question, found

    def result(self, tool):
        rng = self.rng
        found = {}
        for field in tool[3]:
            number = rng.random() < 0.5 or field in ("temperature", "sum", "product", "difference", "count", "number")
            found[field] = rng.randrange(rng.choice([10, 100, 1000])) if number else rng.choice(self.texts.lists["words"])
        draw = rng.random()
        if draw < 0.65:
            return found, json.dumps(found)
        if draw < 0.7:
            return found, json.dumps(found, separators=(",", ":"))
        if draw < 0.85:
            value = rng.choice(list(found.values()))
            return value, str(value)
        text = " ".join([rng.choice(self.texts.lists["words"]), rng.choice(["and", "with", "at", "or"]), str(rng.randrange(100))])
        return text, text

    def talk(self):
        """Turns of one conversation with tools: (role, segments), where segments are (text, learn)."""
        rng = self.rng
        tools = {}
        for _ in range(rng.choice([1, 1, 2, 2, 3, 3, 4])):
            tool = self.tool()
            tools.setdefault(tool[0], tool)
        lines = [signature(t[0], t[1]) for t in tools.values()]
        opening = rng.choice(data.SYSTEMS) if rng.random() < 0.2 else ""
        turns = [("system", [(system(opening, lines), False)])]
        while True:
            draw = rng.random()
            if draw < 0.2:
                question, text = self.without(tools)
                turns += [("user", [(question, False)]), ("assistant", [(text, True)])]
            else:
                jobs = []
                for _ in range(1 if draw < 0.82 else 2):
                    tool = rng.choice(list(tools.values()))
                    question, arguments = self.asked(tool)
                    jobs.append((tool, data.lower_first(question) if jobs else question, arguments))
                question = " and ".join(q.rstrip("?") if i + 1 < len(jobs) else q for i, (_, q, _) in enumerate(jobs))
                turns.append(("user", [(question, False)]))
                said = []
                for tool, _, arguments in jobs:
                    result, text = self.result(tool)
                    turns.append(("assistant", [(call(tool[0], arguments), True)]))
                    turns.append(("tool", [(response(text), False)]))
                    said.append(answer(tool[0], result))
                turns.append(("assistant", [(" ".join(said), True)]))
            if rng.random() < 0.75:
                return turns

    def without(self, tools):
        """A question that none of the tools answers, and the plain answer."""
        rng = self.rng
        if rng.random() < 0.45:
            other = self.tool()
            while other[0] in tools or any(other[0].split("_")[-1] in name.lower() for name in tools) or other[0] in ("add", "multiply", "subtract", "lookup", "search"):
                other = self.tool()
            return self.asked(other)[0], self.refusal
        while True:
            (question, text), *_ = self.turns()
            arithmetic = re.search(r"\d", question) or text.startswith("The capital")
            if not arithmetic and len(text) < 200 and self.refusal != text:
                return question, text

    # JSON

    def fact(self, fact):
        """A value of a fact and a sentence that says it."""
        rng, (key, kind, sentences) = self.rng, fact
        sentence = rng.choice(sentences)
        if kind == "flag":
            value = rng.random() < 0.5
            return value, sentence.split(" / ")[0 if value else 1]
        if kind == "number":
            value = rng.randrange(rng.choice([10, 100, 100, 1000]))
        elif kind == "year":
            value = rng.randrange(1900, 2030)
        elif kind == "city":
            value = rng.choice(self.texts.lists["cities"])
        elif kind == "person":
            value = self.name()
        elif kind == "email":
            value = f"{rng.choice(self.names).lower()}@{rng.choice(['example.com', 'example.org', 'mail.example', self.thing().split()[0].lower() + '.com'])}"
        elif kind.startswith("choice "):
            value = rng.choice(kind[7:].split("|"))
        elif kind in ("people", "words"):
            value = [rng.choice(self.names if kind == "people" else self.texts.lists["words"]) for _ in range(rng.randint(1, 3))]
            shown = ", ".join(value[:-1]) + " and " + value[-1] if len(value) > 1 else value[0]
            return value, sentence.replace("{v}", shown)
        else:
            value = self.phrase(2)
        return value, sentence.replace("{v}", str(value))

    def fill(self):
        """A question and its JSON answer in segments."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.12:
            (question, text), *_ = self.turns()
            value = int(text.split()[-1].rstrip(".")) if re.fullmatch(r"\d+ . \d+ = \d+\.", text) else text
            keys = {rng.choice(["answer", "text", "reply", "message", "result"]): value}
            if len(text) < 160:
                return self.render(question, keys, True)
        facts = rng.sample(self.texts.facts, rng.choice([1, 2, 2, 3, 3, 4]))
        found, sentences, seen = {}, [], set()
        for fact in facts:
            sort = fact[1] if fact[1].startswith("choice ") else fact[0]
            if sort in seen:
                continue
            seen.add(sort)
            found[fact[0]], sentence = self.fact(fact)
            sentences.append(sentence if rng.random() < 0.75 else fact[0] + ": " + spoken_value(found[fact[0]]))
        rng.shuffle(sentences)
        keys = rng.sample(list(found), rng.randint(max(1, len(found) - 1), len(found)))
        join = rng.choice([" ", " ", ", ", "\n"])
        return self.render(rng.choice(BEFORE) + join.join(sentences), {k: found[k] for k in keys}, rng.random() < 0.5)

    def render(self, question, keys, open_request):
        """With an open request the keys come from a mask, so only the values are learned."""
        rng = self.rng
        request = rng.choice(OPEN_REQUESTS) if open_request else rng.choice(REQUESTS).format(k=self.listed(list(keys)))
        question = (question + " " + request if rng.random() < 0.8 else request + " " + question).strip()
        compact = rng.random() < 0.15
        comma, colon = (",", ":") if compact else (", ", ": ")
        learn = not compact and not open_request
        segments = [("{", request != "")]
        for i, (k, v) in enumerate(keys.items()):
            segments += [((comma if i else "") + json.dumps(k), learn), (colon, learn), (json.dumps(v, separators=(comma, colon)), True)]
        return question, segments + [("}", True)]

    def listed(self, keys):
        return ", ".join(keys) if self.rng.random() < 0.6 or len(keys) == 1 else ", ".join(keys[:-1]) + " and " + keys[-1]

    # Tokens

    def add(self, ids, targets, role, segments):
        tok = self.tok
        head = [tok.start] + tok.encode(role) + [tok.end] + tok.encode("\n\n")
        body = tok.encode("".join(text for text, _ in segments)) + [tok.eot]
        flags = [learn for text, learn in segments for _ in text.encode()]
        last = segments[-1][1] if role == "assistant" else False
        at = 0
        ids += head
        targets += [-1] * len(head)
        for id in body:
            size = len(tok.tokens[id]) if id != tok.eot else 0
            learn = any(flags[at : at + size]) if size else last
            targets[-1] = id if learn else -1
            targets.append(-1)
            ids.append(id)
            at += size

    def example(self, size, single):
        """Token ids and targets of a conversation with tools or, if single, of one question for JSON."""
        rng = self.rng
        ids, targets = [self.tok.bos], [-1]
        turns = [] if single else self.talk()
        if single:
            question, segments = self.fill()
            turns = [("user", [(question, False)]), ("assistant", segments)]
            if rng.random() < 0.15:
                turns = [("system", [(rng.choice(data.SYSTEMS), False)])] + turns
        for role, segments in turns:
            self.add(ids, targets, role, segments)
        return (ids, targets) if len(ids) <= size else self.example(size, single)


def spoken_value(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)
