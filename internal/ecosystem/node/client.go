package node

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// lockFiles lists the lock files of npm clients. If a folder has several, the first in this list counts.
var lockFiles = []struct{ file, client string }{
	{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"}, {"yarn.lock", "yarn"}, {"pnpm-lock.yaml", "pnpm"},
	{"bun.lock", "bun"}, {"bun.lockb", "bun"},
}

// FindClient returns the name of the client for the package in a folder. The package's manifest may name
// one, and otherwise the nearest lock file at or above the folder decides. In the root, the manifest counts
// before lock files. The result is empty if there is no client.
func FindClient(hasFile func(string) bool, dir, packageManager, root string) string {
	if name, _, _ := strings.Cut(packageManager, "@"); name != "" {
		return name
	}
	named, _, _ := strings.Cut(root, "@")
	for at := dir; ; at = path.Dir(at) {
		top := at == "." || at == ""
		if top && named != "" {
			return named
		}
		for _, lock := range lockFiles {
			if hasFile(path.Join(at, lock.file)) {
				return lock.client
			}
		}
		if top {
			return ""
		}
	}
}

// ReadManager returns the packageManager field of a manifest.
func ReadManager(text []byte) string {
	var m struct{ PackageManager string }
	_ = json.Unmarshal(text, &m)
	return m.PackageManager
}

// ClaimManifests claims the manifests of a tree for which owns returns true. It returns their paths, and
// their texts reduced to the relevant fields and the given ones.
func ClaimManifests(
	sources ecosystem.Sources, owns func(dir, packageManager, root string) bool, fields ...string,
) (manifests []string, texts map[string][]byte, err error) {
	manifests = Manifests(sources)
	if texts, err = sources.ReadTexts(manifests); err != nil {
		return nil, nil, err
	}
	root := ReadManager(texts["package.json"])
	manifests = slices.DeleteFunc(
		manifests, func(m string) bool { return !owns(path.Dir(m), ReadManager(texts[m]), root) })
	for _, m := range manifests {
		sources.Claim(m)
		texts[m] = ReduceManifest(texts[m], fields...)
	}
	return manifests, texts, nil
}

// Program is a client from npm's registry, in one version that is verified by its digest. It has no
// dependencies.
type Program struct {
	Name            string // in messages, and the name of its layer
	Package         string // its name in the registry
	Version, Digest string
	Commands        map[string]string // name → file of the package
	Env             map[string]string // environment of the image
}

// modulesDir is the folder for clients in an image, next to npm.
const modulesDir = "usr/local/lib/node_modules"

// Layer returns the layer that fetches the program with npm.
func (p Program) Layer(sources ecosystem.Sources) ecosystem.Install {
	manifest := fmt.Appendf(nil, `{"name":"client","version":"1.0.0","dependencies":{%q:%q}}`, p.Package, p.Version)
	lock := fmt.Appendf(
		nil, `{"name":"client","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"client","version":"1.0.0","dependencies":{%[1]q:%[2]q}},`+
			`"node_modules/%[1]s":{"version":%[2]q,"resolved":"https://registry.npmjs.org/%[1]s/-/%[4]s-%[2]s.tgz","integrity":%[3]q}}}`, p.Package, p.Version, p.Digest, nameWithoutScope(p.Package))
	called := p.Name + " " + p.Version
	return ecosystem.Install{
		Layer: p.Name, Why: called, What: p.Name, Registry: ecosystem.NPM, Remote: true, Own: true,
		Locks:  map[string][]byte{"package-lock.json": lock},
		Inputs: []string{sources.HashText(p.Version), sources.HashText(p.Digest)},
		Says:   Says,
		Stage:  []ecosystem.StagedFile{{Path: "package.json", Text: manifest}, {Path: "package-lock.json", Text: lock}},
		Steps: []ecosystem.Step{{
			Dir: ".", Command: "npm ci --ignore-scripts", Env: ClientEnv(sources.Places()), Progress: "fetching " + called,
			Failure: called + " cannot be fetched",
			Fix: "check that `npm view " + p.Package + "@" + p.Version +
				"` answers; or go on without dependencies, with container.deps: off",
		}},
		Collector: func() ecosystem.Collector { return programCollector{p} },
		Env:       ecosystem.Env{Set: p.Env},
	}
}

// programCollector puts a program next to npm in the image.
type programCollector struct{ Program }

func (c programCollector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	below, ok := strings.CutPrefix(entry.Path+"/", "node_modules/"+c.Package+"/")
	return ecosystem.Entry{Path: path.Join(modulesDir, c.Package, below)}, ok && entry.Link == ""
}

func (c programCollector) Files() (out []ecosystem.ImageFile) {
	for name, file := range c.Commands {
		out = append(
			out, ecosystem.ImageFile{Path: path.Join("usr/local/bin", name), Link: "/" + path.Join(modulesDir, c.Package, file)})
	}
	slices.SortFunc(out, func(a, b ecosystem.ImageFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}
