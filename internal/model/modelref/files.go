package modelref

// Files returns the patterns of the files of a repository that a download takes: those
// that are given, or what a conversion needs and no second copy of the weights. original/
// and consolidated files repeat them in the layout of their authors' own tools.
func Files(include, exclude []string) (included, excluded []string) {
	if len(include) > 0 {
		return include, exclude
	}
	if len(exclude) == 0 {
		exclude = []string{"original/*", "metal/*", "onnx/*", "openvino/*", "consolidated*.safetensors"}
	}
	return []string{"*.safetensors", "*.json", "tokenizer.model", "*.txt", "*.jinja", "*.md"}, exclude
}
