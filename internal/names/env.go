package names

import "strings"

// Environment variables hold the ports and folders of a container. Pods refer to
// them in arguments, so that koldun up can run the same pods with other ports
// and folders on one machine.

// EnvEngineHost names the variable with the address on which an engine listens for
// its peers. On one machine it is the loopback interface.
const EnvEngineHost = "KOLDUN_ENGINE_HOST"

// PortEnv names the variable with the number of the container port with the given name.
func PortEnv(port string) string { return "KOLDUN_PORT_" + envWord(port) }

// DirEnv names the variable with the folder at which the volume with the given name is mounted.
func DirEnv(volume string) string { return "KOLDUN_DIR_" + envWord(volume) }

// PortRef refers to the number of a container port in arguments of a pod.
func PortRef(port string) string { return "$(" + PortEnv(port) + ")" }

// DirRef refers to the folder of a volume in arguments of a pod.
func DirRef(volume string) string { return "$(" + DirEnv(volume) + ")" }

func envWord(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) }

// Connection variables, also the keys of composed connection Secrets.
const (
	EnvNATSURL      = "NATS_URL"
	EnvNATSUser     = "NATS_USER"
	EnvNATSPassword = "NATS_PASSWORD"
	EnvNATSToken    = "NATS_TOKEN"
	EnvNATSNKey     = "NATS_NKEY_SEED"
	EnvNATSCreds    = "NATS_CREDS"        // path of a credentials file, or its content
	EnvNATSInbox    = "NATS_INBOX_PREFIX" // of the subjects of answers
	EnvNATSCA       = "NATS_CA"           // certificates of authorities, as PEM
	EnvNATSCert     = "NATS_CERT"         // certificate of the client, as PEM
	EnvNATSKey      = "NATS_KEY"          // its key

	// The names of the AWS SDKs and tools.
	EnvS3Endpoint  = "AWS_ENDPOINT_URL_S3"
	EnvS3Region    = "AWS_REGION"
	EnvS3AccessKey = "AWS_ACCESS_KEY_ID"
	EnvS3SecretKey = "AWS_SECRET_ACCESS_KEY"
	EnvS3Session   = "AWS_SESSION_TOKEN"
	EnvS3CA        = "AWS_CA_BUNDLE" // path of authorities' certificates, or their content

	// EnvS3Credentials is the path of a file with temporary credentials, which is read
	// again when they change, or its content: the JSON of the AWS tools' credential_process.
	EnvS3Credentials = "KOLDUN_S3_CREDENTIALS"

	// EnvS3Checksums is "when_required" for services that refuse checksums in headers.
	EnvS3Checksums = "AWS_REQUEST_CHECKSUM_CALCULATION"

	// EnvS3Addressing is "path" or "virtual". The AWS tools have it in a file only.
	EnvS3Addressing = "KOLDUN_S3_ADDRESSING"

	// EnvS3Anonymous is "true" for unsigned requests. The AWS tools have an
	// argument for it, and no variable.
	EnvS3Anonymous = "KOLDUN_S3_ANONYMOUS"

	// The names of the Hugging Face tools.
	EnvHFEndpoint = "HF_ENDPOINT"
	EnvHFToken    = "HF_TOKEN"

	// EnvHubReach says which hosts may be reached for the hub, see hub.ParseReach.
	EnvHubReach = "KOLDUN_HUB_REACH"
)

// EnvClaim begins the names of the variables that a container with connections has of the
// Secrets and ConfigMaps of a claim. Their keys are not known when the container is composed,
// so the process itself takes those over that it may, see Claimable.
const EnvClaim = "KOLDUN_CLAIM_"

// Own reports whether only Koldun itself sets a variable.
func Own(variable string) bool {
	switch variable {
	case "KOLDUN_LOG_LEVEL", "KOLDUN_LOG_FORMAT":
		return false
	}
	return strings.HasPrefix(variable, "KOLDUN_") || strings.HasPrefix(variable, "POD_")
}

// Claimable reports whether a claim may set a variable of a process that has connections:
// one that this program or its libraries document, and that neither says what it connects to,
// as whom, or whom it trusts there, nor writes what is secret to the log. All others are not
// passed on, because programs in an image take commands from variables that Koldun does not
// know, such as BASH_ENV, and its own would send the platform's login to a server of the
// claim's author. A token of a hub is no login of the platform: it goes to the hub of the
// connection. GODEBUG is not among them, because it logs headers (http2debug).
func Claimable(variable string) bool {
	switch variable {
	case "KOLDUN_LOG_LEVEL", "KOLDUN_LOG_FORMAT",
		"GOGC", "GOMAXPROCS", "GOMEMLIMIT", "TZ",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		EnvHFToken, "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE", EnvS3Checksums, "AWS_RESPONSE_CHECKSUM_VALIDATION":
		return true
	}
	return strings.HasPrefix(variable, "OTEL_")
}

// Referable reports whether a value that a claim gives to a process with connections may
// refer to a variable as $(VARIABLE): the claim's own, and variables of Koldun that are no secret.
// Values may be sent, as the user of a proxy or a header for a collector.
func Referable(variable string) bool {
	if variable == EnvHFToken {
		return false
	}
	for _, prefix := range []string{"POD_", "KOLDUN_PORT_", "KOLDUN_DIR_"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return Claimable(variable)
}
