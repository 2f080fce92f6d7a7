package php

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Known fields of a lock file. They do not affect the source of a package, or they are compared as
// addresses and layouts.
var (
	topFields = []string{
		"_readme", "content-hash", "hash", "packages", "packages-dev", "aliases", "minimum-stability",
		"stability-flags", "prefer-stable", "prefer-lowest", "platform", "platform-dev",
		"platform-overrides", "plugin-api-version",
	}
	packageFields = []string{
		"name", "version", "version_normalized", "dist", "source", "type", "bin", "autoload", "include-path",
		"target-dir", "extra", "replace", "provide", "require", "require-dev", "conflict", "suggest", "autoload-dev",
		"archive", "scripts", "license", "authors", "description", "homepage", "keywords",
		"support", "funding", "time", "abandoned", "default-branch", "installation-source", "php-ext", "readme",
	}
	distFields   = []string{"type", "url", "reference", "shasum", "mirrors"}
	sourceFields = []string{"type", "url", "reference", "mirrors"}
	pathOptions  = []string{"relative", "symlink", "reference", "versions"} // for a folder of the tree
)

// packagistNotified is the address at which composer reports installed packages to Packagist. Packages of
// other repositories may have no such address.
const packagistNotified = "https://packagist.org/downloads/"

// ParseSources returns the parts of a lock file that affect how packages are fetched and that no registry
// confirms. Examples are transport options such as a proxy or the accepted certificates. A folder of the
// tree is relative to the lock file.
func (Ecosystem) ParseSources(file string, text []byte) []ecosystem.Source {
	packages, err := readLock(text)
	var lock map[string]any
	if err != nil || json.Unmarshal(text, &lock) != nil {
		return nil // CheckForm rejects it
	}
	dependency := company.Dependency{Ecosystem: ecosystem.Packagist}
	out := []ecosystem.Source{{Dependency: dependency, From: ecosystem.FormatRest(lock, topFields...)}}
	for _, pkg := range packages {
		if pkg.Notified != "" {
			out = append(
				out, ecosystem.Source{Dependency: company.Dependency{Ecosystem: ecosystem.Packagist}, From: pkg.Notified})
		}
		dependency.Name, dependency.Version = pkg.Name, pkg.Version
		from := pkg.Rest
		if pkg.Dist.Type == "path" && !ecosystem.IsTreeFolder(file, pkg.Dist.URL) {
			from = strings.TrimSpace(joinAddresses(pkg.Dist, source{}) + " " + from)
		}
		out = append(out, ecosystem.Source{Dependency: dependency, From: from})
	}
	return out
}

// formatRest returns the unknown fields of a package, of its file and of its repository as one text.
func formatRest(fields map[string]json.RawMessage) string {
	decode := func(raw json.RawMessage) (value any) {
		_ = json.Unmarshal(raw, &value) // already parsed as part of the file
		return value
	}
	all := map[string]any{}
	for key, raw := range fields {
		all[key] = decode(raw)
	}
	dist, _ := all["dist"].(map[string]any)
	source, _ := all["source"].(map[string]any)
	options, _ := all["transport-options"].(map[string]any)
	known := append(slices.Clone(packageFields), "notification-url")
	if dist["type"] == "path" && ecosystem.FormatRest(options, pathOptions...) == "" {
		known = append(known, "transport-options")
	}
	return ecosystem.FormatRest(all, known...) +
		ecosystem.FormatRest(dist, distFields...) + ecosystem.FormatRest(source, sourceFields...)
}

// formatNotified returns the address at which composer reports the installation of a package, in any form.
// It returns "" for Packagist or if there is none.
func formatNotified(fields map[string]json.RawMessage) string {
	var value any
	_ = json.Unmarshal(fields["notification-url"], &value) // already parsed as part of the file
	if value == packagistNotified {
		return ""
	}
	return ecosystem.FormatRest(map[string]any{"notification-url": value})
}
