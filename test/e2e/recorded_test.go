package e2e

import (
	"testing"

	"company/internal/replay"
	"company/test/testenv"
)

// playRecord replays a record file where no office, no config and no model is.
func playRecord(t *testing.T, file string, more ...string) replay.Report {
	t.Helper()
	h := testenv.New(t, nil, map[string]string{"README.md": "another repository\n"})
	var r replay.Report
	h.JSON(&r, append([]string{"replay", "--record", file}, more...)...)
	return r
}
