package fetch_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

// rcloneCopy brings the file of the hub to the bucket by rclone, with parts of
// the same size and as many at once. Nil if there is no rclone. It counts with
// the start of its process, which takes it some 50 ms, and reads the source by
// one connection, for it knows no other way from a URL to a bucket.
func rcloneCopy(b *testing.B, h *hubtest.Hub, bucket *s3test.Bucket) func(to objectstore.Store) error {
	b.Helper()
	exe, err := exec.LookPath("rclone")
	if err != nil {
		b.Log("not compared with rclone; to compare: apt-get install rclone")
		return nil
	}
	url := fmt.Sprintf("%s/%s/resolve/%s/model.safetensors", h.URL, h.Repo, h.Commit())
	return func(to objectstore.Store) error {
		cmd := exec.CommandContext(b.Context(), exe, "copyurl", url,
			"bench:"+strings.TrimPrefix(to.URL(), "s3://")+"/model.safetensors",
			"--config", os.DevNull, "--s3-chunk-size", strconv.Itoa(benchPart>>20)+"Mi",
			"--s3-upload-concurrency", strconv.Itoa(benchConcurrency), "--s3-no-check-bucket", "--retries", "1")
		cmd.Env = []string{ // nothing else: variables of AWS would count too
			"HOME=" + os.TempDir(),
			"RCLONE_CONFIG_BENCH_TYPE=s3", "RCLONE_CONFIG_BENCH_PROVIDER=Other", "RCLONE_CONFIG_BENCH_REGION=" + s3.Region,
			"RCLONE_CONFIG_BENCH_ENDPOINT=" + bucket.Config.Endpoint,
			"RCLONE_CONFIG_BENCH_ACCESS_KEY_ID=" + bucket.Config.AccessKey,
			"RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY=" + bucket.Config.SecretKey,
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("rclone: %w: %s", err, out)
		}
		o, err := to.Stat(b.Context(), "model.safetensors")
		if err == nil && o.Size != benchSize {
			err = fmt.Errorf("rclone wrote %d bytes", o.Size)
		}
		return err
	}
}
