// Package toolcall translates between the tools of OpenAI's chat API and the
// text of models: it recognises how a model writes calls (Detect), prepares a
// conversation for the model's chat template (History), and finds the calls in
// the text of an answer (Parser).
//
// Models write calls in formats of their own, which their chat templates show. A
// Family is one such format. A model whose template knows no tools is told a
// format in the system message (Generic).
package toolcall
