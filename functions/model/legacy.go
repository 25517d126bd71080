package model

import v1 "github.com/gorizond/koldun/apis/composite/v1"

// legacy says which fields without effect are given.
func legacy(s v1.ModelSpec) map[string]bool {
	out := map[string]bool{"spec.pipProxy": s.PipProxy != ""}
	if d := s.Download; d != nil {
		out["spec.download.image"] = d.Image != ""
		out["spec.download.command"] = len(d.Command) > 0
		out["spec.download.args"] = len(d.Args) > 0
	}
	if c := s.Conversion; c != nil {
		out["spec.conversion.image"] = c.Image != ""
		out["spec.conversion.command"] = len(c.Command) > 0
		out["spec.conversion.args"] = len(c.Args) > 0
		out["spec.conversion.rcloneImage"] = c.RcloneImage != ""
		out["spec.conversion.toolsImage"] = c.ToolsImage != ""
		out["spec.conversion.converterVersion"] = c.ConverterVersion != ""
		out["spec.conversion.writerURL"] = c.WriterURL != ""
		out["spec.conversion.writerConfigMap"] = c.WriterConfigMap != ""
		out["spec.conversion.dependencies"] = len(c.Dependencies) > 0
	}
	return out
}
