package names

import "strings"

// ModelFile is the file name of a converted model, as distributed-llama's
// converter writes it.
func ModelFile(name, weights string) string { return "dllama_model_" + name + "_" + weights + ".m" }

// TokenizerFile is the file name of a converted tokenizer.
func TokenizerFile(name string) string { return "dllama_tokenizer_" + name + ".t" }

// TokenizerRules is the name of the file beside a tokenizer file, or its path, that
// says how the tokenizer encodes text.
func TokenizerRules(tokenizer string) string {
	return strings.TrimSuffix(tokenizer, ".t") + rulesSuffix
}

// Converted reports whether a conversion writes a file of that name.
func Converted(name string) bool {
	return strings.HasPrefix(name, "dllama_") &&
		(strings.HasSuffix(name, ".m") || strings.HasSuffix(name, ".t") || strings.HasSuffix(name, rulesSuffix))
}

const rulesSuffix = ".rules.json"

// Manifest is the object that makes a folder of files a model.
const Manifest = "koldun-manifest.json"

// volumeScheme begins the URLs of files in volumes.
const volumeScheme = "pvc://"

// VolumeURL is the URL of a file in a PersistentVolumeClaim.
func VolumeURL(claim, file string) string { return volumeScheme + claim + "/" + file }

// InVolume reports whether a URL is one of VolumeURL.
func InVolume(url string) bool { return strings.HasPrefix(url, volumeScheme) }
