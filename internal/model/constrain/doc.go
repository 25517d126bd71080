// Package constrain makes a model write answers of a given form: JSON that a
// schema allows, any JSON object, or calls of tools.
//
// A Grammar is an automaton over bytes with a stack, compiled from a JSON Schema
// or from calls. A Vocabulary holds the tokens of a model. A Matcher follows one
// answer through a Grammar, and tells which tokens of the Vocabulary may come
// next: those after which the Grammar can still be completed. The model may end
// the answer where the Matcher accepts.
//
// The languages of grammars are subsets of what schemas allow: properties come in
// the order of the schema, white space is limited, a character has one escape at
// most if it needs none. A keyword that the package cannot guarantee is refused
// by name.
package constrain
