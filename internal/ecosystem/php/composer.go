package php

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// composerJSON holds the relevant fields of a composer.json.
type composerJSON struct {
	Require map[string]string `json:"require"`
	Dev     map[string]string `json:"require-dev"`
	Config  struct {
		Vendor string `json:"vendor-dir"`
	} `json:"config"`
	Extra struct {
		BranchAlias map[string]string `json:"branch-alias"`
	} `json:"extra"`
}

// parseManifest reads a composer.json. An invalid one has no requirements, and composer reports the error.
func parseManifest(text []byte) (c composerJSON) {
	if err := json.Unmarshal(text, &c); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return composerJSON{}
	}
	if path.Clean(c.Config.Vendor) == "vendor" {
		c.Config.Vendor = "" // the default
	}
	return c
}

// readComposer reads the composer.json of a project.
func readComposer(t *ecosystem.Tree, dir string) composerJSON {
	return parseManifest([]byte(t.ReadManifest(dir, manifest)))
}

// listRequirements returns the sorted names in require and require-dev.
func (c composerJSON) listRequirements() []string {
	all := slices.Sorted(maps.Keys(c.Require))
	for name := range c.Dev {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// listPackages returns the requirements that are packages, without PHP itself and extensions.
func (c composerJSON) listPackages() []string {
	return slices.DeleteFunc(c.listRequirements(), func(name string) bool { return checkName(name, "") != nil })
}

// dependsOn reports whether a project requires a package.
func (c composerJSON) dependsOn(name string) bool {
	return slices.Contains(c.listRequirements(), name)
}

// noteMissing adds a note about required extensions that the image lacks.
func noteMissing(tree *ecosystem.Tree, dir string) {
	var extensions []string
	for _, name := range readComposer(tree, dir).listRequirements() {
		if extension, is := strings.CutPrefix(name, extensionPrefix); is && extensionPackages[extension] == "" &&
			!slices.Contains(builtIn, extension) {
			extensions = append(extensions, ecosystem.PrintablePath(name))
		}
	}
	if len(extensions) > 0 {
		tree.AddNote("%s asks for %s, which the image does not have (container.setup can install more of Debian)",
			path.Join(dir, manifest), joinSome(extensions))
	}
}

func joinSome(names []string) string {
	const most = 8
	out := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		out += ", …"
	}
	return out
}
