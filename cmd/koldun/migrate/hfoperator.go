package migrate

import v1 "github.com/gorizond/koldun/apis/composite/v1"

const groupHF = "hfops.kamal.dev"

func hfKinds() []kind {
	return []kind{{groups: []string{groupHF}, name: "ModelDownload", to: v1.KindModelDownload, convert: convertModelDownload}}
}

func convertModelDownload(c *conversion) {
	models, _ := get(c.in, "spec.models")
	list, _ := models.([]any)
	seen := map[string]bool{}
	for i := 0; i < len(list); {
		name, _ := get(list[i], "name")
		text, _ := name.(string)
		if !seen[text] {
			seen[text] = true
			i++
			continue
		}
		c.lose(indexed("spec.models", i), "the model is in the list twice, and two Jobs would write into one folder", "")
		list = append(list[:i:i], list[i+1:]...)
		set(c.in, "spec.models", list)
	}
	for i := range list {
		downloadedModel(c, indexed("spec.models", i))
	}
	if c.text("spec.nodePool") == "" {
		c.take("spec.nodePool")
	}
	if force, _ := get(c.in, "spec.settings.forceReload"); force == true {
		c.info("spec.settings.forceReload", "it now reloads once each time it becomes true, not in every pass")
	}
	if millis, _ := get(c.in, "spec.settings.timeoutMillis"); millis != nil && millis != int64(0) {
		c.info("spec.settings.timeoutMillis", "hf-operator did not enforce it; now a Job ends after this time")
	}
	if seconds, ok := get(c.in, "spec.settings.keepAliveSeconds"); ok && less(seconds, 1) {
		c.take("spec.settings.keepAliveSeconds")
		c.info("spec.settings.keepAliveSeconds", "less than 1 stands for the default of 3600")
	}
}

// downloadedModel notes what of a model had no effect before.
func downloadedModel(c *conversion, at string) {
	if sha := c.text(at + ".sha"); sha != "" {
		c.info(at+".sha", "hf-operator downloaded the default branch; now this commit is downloaded, and its absence is an error")
	}
	if n, ok := get(c.in, at+".retryCount"); ok {
		if less(n, 0) {
			c.drop(at+".retryCount", "it is negative", "")
			return
		}
		c.info(at+".retryCount", "hf-operator never retried; now it is the number of retries")
	}
}

func less(v any, than int64) bool {
	n, ok := v.(int64)
	return ok && n < than
}
