// Package kube reads and writes objects in a cluster. It needs no discovery,
// because callers name group, version and resource.
package kube

import (
	"fmt"

	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/gorizond/koldun/internal/fault"
)

// FieldManager owns the fields that the provider applies.
const FieldManager = "terraform-provider-koldun"

// Config is the connection to a cluster: by a kubeconfig file, or by Host.
type Config struct {
	Path      string // of a kubeconfig file
	Context   string // of the file; "" is its current context
	Host      string // https://host:port
	Token     string
	CAPEM     string
	CertPEM   string
	KeyPEM    string
	Namespace string // of objects without one; "" is "default"
}

// Configured reports whether the Config names a cluster.
func (c Config) Configured() bool { return c.Path != "" || c.Host != "" }

// A Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	dynamic dynamic.Interface
	config  *rest.Config
}

// New returns a Client. It does not connect. Errors: Invalid.
func New(c Config) (*Client, error) {
	cfg, err := c.rest()
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot configure Kubernetes: %w; KUBECONFIG, or kubernetes.config_path in the provider block, is to name a kubeconfig file", err)
	}
	// Terraform applies ten resources at once, and each of them polls.
	cfg.QPS, cfg.Burst = 50, 100
	cfg.UserAgent = FieldManager
	d, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot configure Kubernetes: %w", err)
	}
	return &Client{dynamic: d, config: cfg}, nil
}

// Nodes returns a client of the cluster's nodes. Errors: Invalid.
func (c *Client) Nodes() (typedcorev1.NodeInterface, error) {
	core, err := typedcorev1.NewForConfig(c.config)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot configure Kubernetes: %w", err)
	}
	return core.Nodes(), nil
}

func (c Config) rest() (*rest.Config, error) {
	if c.Path == "" {
		return &rest.Config{Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{
			CAData: []byte(c.CAPEM), CertData: []byte(c.CertPEM), KeyData: []byte(c.KeyPEM),
		}}, nil
	}
	if c.Host != "" {
		return nil, fmt.Errorf("give either a kubeconfig file or a host, not both")
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: clientcmd.NewDefaultClientConfigLoadingRules().Precedence}
	rules.ExplicitPath = c.Path
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: c.Context, Context: clientcmdapi.Context{}}).ClientConfig()
}
