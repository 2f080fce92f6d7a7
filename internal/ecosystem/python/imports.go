package python

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

//go:embed debianimports.txt
var debianImportsList string

// debianImports maps module names to Debian libraries whose package names differ from them.
var debianImports = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(debianImportsList) {
		if name, debian, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			out[name] = debian
		}
	}
	return out
})

// findDebianModule returns the Debian package for a module by its import name, or an empty string if
// unknown.
func findDebianModule(name string) string {
	if debian := debianImports()[name]; debian != "" {
		return debian
	}
	if debian := debianModules()[canonicalName(name)]; strings.HasPrefix(debian, "python3-") {
		return debian
	}
	return ""
}

// Limits of the search for imports in a project that declares no packages.
const (
	maxImportFiles    = 300
	maxImportPackages = 40
)

// inEachImage lists packages that every image with Python has. An import of them adds no package.
var inEachImage = []string{"python3-pip", "python3-pytest", "python3-setuptools"}

// importRE matches the modules in an import statement on its own line. Prose would continue on that line.
var importRE = lazyregexp.New(
	`(?m)^(?:from[ \t]+([A-Za-z]\w*)(?:\.\w+)*[ \t]+import\b|import[ \t]+([A-Za-z]\w*(?:\.\w+)*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*\w+(?:\.\w+)*(?:[ \t]+as[ \t]+\w+)?)*)[ \t]*(?:[#;].*)?\r?$)`)

// asideDirs lists folders whose programs are usually not run by checks.
var asideDirs = []string{"docs", "doc", "examples", "example", "tools", "scripts", "benchmarks", "contrib"}

// listImported returns Debian packages for the modules that a tree imports and does not contain. It skips
// indented imports, because these may be optional.
func listImported(tree *ecosystem.Tree) (packages []string) {
	all, files := tree.FilesBelow(""), []string(nil)
	own := ecosystem.ReadOwnNames(all)
	for _, p := range all {
		d, name := ecosystem.SplitPath(p)
		top, _, _ := strings.Cut(p, "/")
		if path.Ext(p) == ".py" && !ecosystem.IsForeignDir(d) && !slices.Contains(asideDirs, top) &&
			!setupFiles.MatchString(name) && len(files) < maxImportFiles {
			files = append(files, p)
		}
	}
	for _, p := range files {
		d, name := ecosystem.SplitPath(p)
		for _, m := range importRE.FindAllStringSubmatch(tree.ReadManifest(d, name), -1) {
			for part := range strings.SplitSeq(m[1]+m[2], ",") {
				module, _, _ := strings.Cut(strings.Fields(part)[0], ".")
				if debian := findDebianModule(module); debian != "" && !own.Has(module) && !slices.Contains(inEachImage, debian) {
					packages = append(packages, debian)
				}
			}
		}
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	return packages[:min(len(packages), maxImportPackages)]
}

var (
	_ ecosystem.PackageFinder = Ecosystem{}
	_ ecosystem.Explainer     = Ecosystem{}
)

// missingModule matches Python's error for a missing module.
var missingModule = lazyregexp.New(`ModuleNotFoundError: No module named '([A-Za-z]\w*)`)

// MissingPackages returns the Debian packages of the modules that a run did not find.
func (Ecosystem) MissingPackages(output string, own ecosystem.OwnNames) (packages []string) {
	for _, m := range missingModule.FindAllStringSubmatch(output, -1) {
		if own.Has(m[1]) {
			continue
		}
		if debian := findDebianModule(m[1]); debian != "" && !slices.Contains(packages, debian) &&
			len(packages) < maxImportPackages {
			packages = append(packages, debian)
		}
	}
	return packages
}

// ExplainOutput returns a message that names the Debian package of a missing module, or an empty string.
func (e Ecosystem) ExplainOutput(output string) string {
	packages := e.MissingPackages(output, nil)
	if len(packages) == 0 {
		return ""
	}
	list := strings.Join(packages, " ")
	return fmt.Sprintf("\n[the image does not have a module that was asked for; Debian's is in %s: container.setup: "+
		"[\"apt-get update && apt-get install -y %s\"] installs it, as does a list of requirements with its name]",
		list, list)
}
