package image

import (
	"context"
	_ "embed"
	"strings"

	"company/internal/ecosystem"
)

// LinkDepsPath is a shell script in the image that links prepared dependencies into a tree. The
// toolbox runs it in the root of a fresh tree before any command, both for workers and for gates.
const LinkDepsPath = "/opt/company/ready"

// linkDepsFrame is the script around the parts of the ecosystems. It copies lock
// files and hides paths. The ecosystems know the other needs of their clients.
//
//go:embed ready.sh
var linkDepsFrame string

// buildLinkDepsScript inserts the parts of all toolchains into the frame, in the order of the catalog.
// The script is the same in all images, and its text is part of a layer's key. The dependency layers
// provide lists for it below depsPath.
func buildLinkDepsScript() string {
	join := func(part func(ecosystem.FreshTree) string) string {
		var all []string
		for _, t := range toolchains() {
			if text := part(t.FreshTree); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, "\n")
	}
	return strings.NewReplacer(
		"@LINKS@\n", join(func(f ecosystem.FreshTree) string { return f.Links }),
		"@SETTINGS@\n", join(func(f ecosystem.FreshTree) string { return f.Settings }),
		"@HIDDEN@\n", join(func(f ecosystem.FreshTree) string { return f.Hidden }),
	).Replace(linkDepsFrame)
}

// depsPath is the folder of prepared dependencies in an image.
const depsPath = "/opt/deps"

func fillLinkDeps(_ context.Context, _ *existingImage, _ string, l *layer) error {
	return l.addBytes(strings.TrimPrefix(LinkDepsPath, "/"), 0o755, []byte(buildLinkDepsScript()))
}
