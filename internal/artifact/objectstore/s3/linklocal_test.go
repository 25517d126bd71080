package s3_test

import (
	"strings"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// TestNoStoreIsMetadata gives a claim's address of the credentials of a machine as that of an
// object store.
func TestNoStoreIsMetadata(t *testing.T) {
	t.Parallel()
	client, err := s3.NewClient(t.Context(), s3.Config{Endpoint: "http://169.254.169.254", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	if err = s3.Fault(err); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cannot use the S3 service at 169.254.169.254: its address") {
		t.Error(err)
	}
}
