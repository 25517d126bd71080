// Package jinja parses and renders the chat templates of models.
//
// It implements the part of the Jinja language that chat templates use, with
// the settings of Hugging Face's transformers: trim_blocks and lstrip_blocks,
// the loop controls break and continue, the tag generation, the filter tojson
// without HTML escapes, the functions raise_exception and strftime_now, and the
// immutable sandbox. Rules come from the template designer documentation of
// Jinja 3.1 (https://jinja.palletsprojects.com/en/stable/templates/), and where
// values show as text, from the language reference of Python 3.
//
// Templates are foreign input. Rendering is bounded in steps, depth and bytes,
// ends with its context, and has no access to files, network or Go values. The
// package does not support what reaches other templates (extends, include,
// import, block), filters whose results are random or made for HTML, nor
// functions, tests and methods that no known template uses, such as str.format
// and cycler; a template that uses them does not parse.
//
// One rule differs from Jinja: a variable of the conversation that the template
// sets only later has its value until then; in Jinja it is undefined inside of
// loops and macros before that.
//
// Every text knows which of its bytes come from the values it was rendered
// with, and which ones the template wrote itself. A tokenizer can then take
// control tokens from the template only.
//
// As in text/template, the parser and the evaluator report errors by panic with
// an *Error, which Parse and Render recover.
package jinja
