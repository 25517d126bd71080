package platform

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

// Fields of a Rule that allow what servers run and read.
const (
	grantServerCommands = "serverCommands"
	grantServerSecrets  = "serverSecrets"
)

// ServerCommand is the use of a program in a container that is not Koldun's.
func ServerCommand(field string, command []string) Use {
	return Use{Field: field, What: "command", Value: strings.Join(command, " "), Grant: grantServerCommands, WhereShared: true}
}

// ServerSecrets are the uses of Secrets in the environment of containers that are not Koldun's.
func ServerSecrets(path string, vars []corev1.EnvVar, from []v1.EnvFromSource) []Use {
	var out []Use
	for _, v := range vars {
		if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
			out = append(out, ServerSecret(path+".env["+v.Name+"]", v.ValueFrom.SecretKeyRef.Name))
		}
	}
	for _, source := range from {
		if source.SecretRef != nil {
			out = append(out, ServerSecret(path+".envFrom", source.SecretRef.Name))
		}
	}
	return out
}

// ServerSecret is the use of one Secret in such a container.
func ServerSecret(field, name string) Use {
	return Use{Field: field, What: "Secret of a server", Value: name, Grant: grantServerSecrets, WhereShared: true}
}

// server lists the uses of a server in the pods of a runtime; none if there is no such server.
func server(path string, r v1.Runtime) []Use {
	s := r.Engine.Server
	if s == nil || s.URL != "" {
		return nil
	}
	field := path + ".engine.server"
	out := []Use{ServerCommand(field+".command", s.Command)}
	if s.Profile == "" || s.Profile == "generic" { // of the image's own program, which may be a shell
		out = append(out, ServerCommand(field+".args", s.Args))
	}
	out = append(out, ServerSecrets(field, workload.Vars(s.Env), nil)...)
	return append(out, ServerSecrets(path, workload.Vars(r.Env), r.EnvFrom)...)
}
