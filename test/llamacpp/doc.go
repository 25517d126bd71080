// Package llamacpp runs llama.cpp's server, a real OpenAI-compatible server, with
// the tiny model and the arguments of its profile.
//
// Tests that need it skip unless LLAMA_SERVER_BIN names the program.
package llamacpp
