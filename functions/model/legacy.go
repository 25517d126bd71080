package model

import v1 "github.com/gorizond/koldun/apis/composite/v1"

// Legacy says which fields without effect are given, at which path.
func Legacy(path string, s v1.ModelSpec) map[string]bool {
	out := map[string]bool{path + ".pipProxy": s.PipProxy != ""}
	if d := s.Download; d != nil {
		out[path+".download.image"] = d.Image != ""
		out[path+".download.command"] = len(d.Command) > 0
		out[path+".download.args"] = len(d.Args) > 0
	}
	if c := s.Conversion; c != nil {
		out[path+".conversion.image"] = c.Image != ""
		out[path+".conversion.command"] = len(c.Command) > 0
		out[path+".conversion.args"] = len(c.Args) > 0
		out[path+".conversion.rcloneImage"] = c.RcloneImage != ""
		out[path+".conversion.toolsImage"] = c.ToolsImage != ""
		out[path+".conversion.converterVersion"] = c.ConverterVersion != ""
		out[path+".conversion.writerURL"] = c.WriterURL != ""
		out[path+".conversion.writerConfigMap"] = c.WriterConfigMap != ""
		out[path+".conversion.dependencies"] = len(c.Dependencies) > 0
	}
	return out
}
