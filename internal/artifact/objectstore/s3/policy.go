package s3

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// An Access is a right to the objects of a folder.
type Access struct {
	Bucket string
	Prefix string // empty: all objects of the bucket
	Write  bool   // and not only read
}

// maxPolicy is the longest session policy that AWS accepts, in bytes.
const maxPolicy = 2048

const listUploads = "s3:ListBucketMultipartUploads"

type (
	policy struct {
		Version   string
		Statement []statement
	}
	statement struct {
		Effect    string
		Action    []string
		Resource  []string
		Condition map[string]map[string][]string `json:",omitempty"`
	}
)

// Policy returns the session policy that allows the list of accesses and nothing else
// (AWS Identity and Access Management User Guide, "Session policies"). Errors: Invalid.
func (c Config) Policy(list []Access) (string, error) {
	partition := "aws" // other ones have regions of their own, as aws-cn
	if part := strings.Split(c.STS.RoleARN, ":"); len(part) > 1 && c.Endpoint == "" {
		partition = part[1]
	}
	bucketARN := func(a Access) string { return "arn:" + partition + ":s3:::" + a.Bucket }
	var read, write, uploads []string
	var lists []statement
	for _, a := range list {
		if a.Bucket == "" || strings.ContainsAny(a.Bucket+a.Prefix, "*?$\\") {
			return "", fault.Errorf(fault.Invalid, "cannot limit credentials to folder %q of bucket %q: names may not be empty, and hold no *, ?, $ or \\, which stand for others in policies", a.Prefix, a.Bucket)
		}
		within := strings.TrimPrefix(strings.Trim(a.Prefix, "/")+"/*", "/")
		read = append(read, bucketARN(a)+"/"+within)
		if a.Write {
			write = append(write, bucketARN(a)+"/"+within)
		}
		one := allow([]string{"s3:ListBucket"}, bucketARN(a))
		if a.Write && c.STS.Signed { // servers of Koldun know the condition for both lists
			one.Action = append(one.Action, listUploads)
		} else if a.Write {
			uploads = append(uploads, bucketARN(a))
		}
		if within != "*" {
			one.Condition = map[string]map[string][]string{"StringLike": {"s3:prefix": {within}}}
		}
		lists = append(lists, one)
	}
	p := policy{Version: "2012-10-17", Statement: append([]statement{allow([]string{"s3:GetObject"}, read...)}, lists...)}
	if len(write) > 0 {
		p.Statement = append(p.Statement, allow([]string{"s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}, write...))
	}
	if len(uploads) > 0 {
		p.Statement = append(p.Statement, allow([]string{listUploads}, uploads...)) // AWS has no condition for folders
	}
	if c.Endpoint == "" {
		// Buckets may be encrypted with keys of their owner; others have no such action.
		kms := allow([]string{"kms:Decrypt", "kms:GenerateDataKey"}, "*")
		kms.Condition = map[string]map[string][]string{"StringLike": {"kms:ViaService": {"s3.*"}}}
		p.Statement = append(p.Statement, kms)
	}
	text, err := json.Marshal(p)
	if err == nil && len(text) > maxPolicy {
		err = fault.Errorf(fault.Invalid, "cannot limit credentials to %d folders: the policy has %d bytes, and may have %d", len(list), len(text), maxPolicy)
	}
	return string(text), err
}

func allow(actions []string, resources ...string) statement {
	return statement{Effect: "Allow", Action: actions, Resource: slices.Compact(slices.Sorted(slices.Values(resources)))}
}

// Within returns the accesses with the bucket of those that name none.
func Within(bucket string, list []Access) []Access {
	out := slices.Clone(list)
	for i := range out {
		out[i].Bucket = cmp.Or(out[i].Bucket, bucket)
	}
	return out
}
