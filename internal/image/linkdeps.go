package image

import (
	"context"
	_ "embed"
	"strings"
)

// LinkDepsPath is a shell script of the image that links prepared dependencies
// into a tree. The toolbox runs it in the root of a fresh tree, a worker's
// clone and a gate's alike, before any command.
const LinkDepsPath = "/opt/company/ready"

// linkDepsScript is the same in all images: the dependency layers leave lists
// for it below depsPath.
//
//go:embed ready.sh
var linkDepsScript string

// depsPath is where prepared dependencies lie inside an image.
const depsPath = "/opt/deps"

func fillLinkDeps(_ context.Context, _ *existingImage, _ string, l *layer) error {
	return l.addBytes(strings.TrimPrefix(LinkDepsPath, "/"), 0o755, []byte(linkDepsScript))
}
