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

// composerJSON is what counts of a composer.json.
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

// parseManifest reads a composer.json. What cannot be read asks for nothing, and composer
// reports its fault.
func parseManifest(text []byte) (c composerJSON) {
	if err := json.Unmarshal(text, &c); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return composerJSON{}
	}
	if path.Clean(c.Config.Vendor) == "vendor" {
		c.Config.Vendor = "" // where composer has its packages anyway
	}
	return c
}

// readComposer reads what a project asks for.
func readComposer(t *ecosystem.Tree, dir string) composerJSON {
	return parseManifest([]byte(t.ReadManifest(dir, manifest)))
}

// listRequirements are the names that a project asks for, sorted.
func (c composerJSON) listRequirements() []string {
	all := slices.Sorted(maps.Keys(c.Require))
	for name := range c.Dev {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// listPackages are those of the names that are packages, and not PHP itself or an extension.
func (c composerJSON) listPackages() []string {
	return slices.DeleteFunc(c.listRequirements(), func(name string) bool { return checkName(name, "") != nil })
}

// dependsOn says whether a project asks for a package.
func (c composerJSON) dependsOn(name string) bool {
	return slices.Contains(c.listRequirements(), name)
}

// noteMissing tells of the extensions that a project has to go without.
func noteMissing(t *ecosystem.Tree, dir string) {
	var extensions []string
	for _, name := range readComposer(t, dir).listRequirements() {
		if extension, is := strings.CutPrefix(name, extensionPrefix); is && extensionPackages[extension] == "" && !slices.Contains(builtIn, extension) {
			extensions = append(extensions, ecosystem.PrintablePath(name))
		}
	}
	if len(extensions) > 0 {
		t.AddNote("%s asks for %s, which the image does not have (container.setup can install more of Debian)", path.Join(dir, manifest), joinSome(extensions))
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
