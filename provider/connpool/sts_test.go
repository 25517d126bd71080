package connpool_test

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

func TestSTS(t *testing.T) {
	secret := &v1alpha1.CredentialsReference{Name: "keys"}
	role := "arn:aws:iam::123456789012:role/models"
	for name, c := range map[string]struct {
		s3      v1alpha1.S3Config
		want    s3store.STS
		refused string
		signed  bool // the Secret says so
	}{
		"None":        {s3: v1alpha1.S3Config{Endpoint: "http://minio", SecretRef: secret}},
		"MinIO":       {s3: v1alpha1.S3Config{Endpoint: "http://minio", SecretRef: secret, STS: &v1alpha1.S3STS{}}, want: s3store.STS{Life: time.Hour}},
		"AWS":         {s3: v1alpha1.S3Config{SecretRef: secret, STS: &v1alpha1.S3STS{RoleARN: role, Lifetime: &metav1.Duration{Duration: 15 * time.Minute}}}, want: s3store.STS{RoleARN: role, Life: 15 * time.Minute}},
		"Elsewhere":   {s3: v1alpha1.S3Config{Endpoint: "http://store", SecretRef: secret, STS: &v1alpha1.S3STS{Endpoint: "http://sts/"}}, want: s3store.STS{Endpoint: "http://sts", Life: time.Hour}},
		"Signed":      {signed: true, s3: v1alpha1.S3Config{Endpoint: "https://s3", SecretRef: secret, STS: &v1alpha1.S3STS{}}, want: s3store.STS{Life: time.Hour, Signed: true}},
		"SignedNone":  {signed: true, s3: v1alpha1.S3Config{Endpoint: "https://s3", SecretRef: secret}},
		"SignedSTS":   {signed: true, s3: v1alpha1.S3Config{Endpoint: "https://s3", SecretRef: secret, STS: &v1alpha1.S3STS{Endpoint: "https://sts"}}, want: s3store.STS{Endpoint: "https://sts", Life: time.Hour}},
		"SignedAWS":   {signed: true, s3: v1alpha1.S3Config{SecretRef: secret, STS: &v1alpha1.S3STS{RoleARN: role}}, want: s3store.STS{RoleARN: role, Life: time.Hour}},
		"AWSNoRole":   {s3: v1alpha1.S3Config{SecretRef: secret, STS: &v1alpha1.S3STS{}}, refused: "spec.s3.sts.roleARN is missing"},
		"NoSecret":    {s3: v1alpha1.S3Config{Endpoint: "http://minio", STS: &v1alpha1.S3STS{}}, refused: "spec.s3.secretRef: add it"},
		"BadEndpoint": {s3: v1alpha1.S3Config{Endpoint: "http://minio", SecretRef: secret, STS: &v1alpha1.S3STS{Endpoint: "minio:9000"}}, refused: "spec.s3.sts.endpoint is not"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"}, Data: map[string][]byte{"accessKey": []byte("a"), "secretKey": []byte("b")}}
			if c.signed {
				keys.Data["KOLDUN_S3_SESSIONS"] = []byte("signed")
			}
			own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}, Spec: v1alpha1.ProviderConfigSpec{S3: &c.s3}}
			for _, err := range []error{s.api.Create(t.Context(), keys), s.api.Create(t.Context(), own)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			_, cfg, err := s.pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "own"}).S3(t.Context())
			check(t, "S3", err, c.refused)
			if cfg.STS != c.want {
				t.Errorf("got %+v, want %+v", cfg.STS, c.want)
			}
		})
	}
}
