package image

import (
	"context"
	_ "embed"
	"strings"
)

// ReadyPath is a shell script of the image that links prepared dependencies
// into a tree. The toolbox runs it in the root of a fresh tree, a worker's
// clone and a gate's alike, before any command.
const ReadyPath = "/opt/company/ready"

// ready is the same in all images: what it links is told by files that the
// dependency layers leave below depsInside.
//
//go:embed ready.sh
var ready string

// Where prepared dependencies lie inside an image.
const (
	depsInside = "/opt/deps"
	venvInside = "/opt/venv"
)

func fillReady(_ context.Context, _ *found, _ string, l *layer) error {
	return l.bytes(strings.TrimPrefix(ReadyPath, "/"), 0o755, []byte(ready))
}
