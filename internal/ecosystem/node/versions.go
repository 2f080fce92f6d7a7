package node

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// binaryPackage is the npm package that contains the program of each Node version, for Linux with glibc.
var binaryPackage = "node-linux-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]

// otherVersions describes how to get the Node versions in npm's registry.
var otherVersions = &ecosystem.Versions{
	Package: company.Dependency{Ecosystem: ecosystem.NPM, Name: binaryPackage}, Choose: chooseVersion, Fetch: fetchVersion,
	Dir: func(string) string { return "node" }, Program: "bin/node",
}

// npmVersions maps major versions of Node to the npm of Node's own packages. An entry applies from its
// version on.
var npmVersions = []struct {
	from int
	npm  string
}{{24, "11.6.2"}, {22, "10.9.4"}, {minVersion, "10.8.2"}}

// fetchVersion unpacks a Node version and its npm into one tree, as in Node's own packages.
func fetchVersion(ctx context.Context, fetchHost ecosystem.FetchHost, version string) error {
	if err := fetchHost.Unpack(ctx, binaryPackage+"/-/"+binaryPackage+"-"+version+".tgz", "node"); err != nil {
		return err
	}
	major := parseParts(version)[0]
	for _, v := range npmVersions {
		if major >= v.from {
			return fetchHost.Unpack(ctx, "npm/-/npm-"+v.npm+".tgz", "node/lib/node_modules/npm")
		}
	}
	return company.E(company.EImage, "no npm is known for Node "+version)
}

var releaseRE = lazyregexp.New(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}$`)

// chooseVersion returns the version for a wish: the version itself, or the newest one that matches. Among
// several major versions, it prefers the lowest with long-term support.
func chooseVersion(wants string, all []string) (version, shown string) {
	versionRange, ok := parseRange(wants)
	if !ok {
		return "", ""
	}
	var fit, near [][3]int
	for _, v := range all {
		if p := parseParts(v); releaseRE.MatchString(v) && p[0] >= minVersion {
			if versionRange.containsVersion(p) {
				fit = append(fit, p)
			}
			if exact := parseParts(wants); releaseRE.MatchString(wants) && p[0] == exact[0] {
				near = append(near, p)
			}
		}
	}
	if len(fit) == 0 { // that exact release does not exist
		fit = near
	}
	if len(fit) == 0 {
		return "", ""
	}
	slices.SortFunc(fit, func(a, b [3]int) int {
		return cmp.Or(cmp.Compare(a[0]%2, b[0]%2), cmp.Compare(a[0], b[0]), -compareParts(a, b))
	})
	best := strconv.Itoa(fit[0][0]) + "." + strconv.Itoa(fit[0][1]) + "." + strconv.Itoa(fit[0][2])
	return best, best
}

// longSupport maps names of long-term support releases to their major version.
var longSupport = map[string]string{"hydrogen": "18", "iron": "20", "jod": "22", "krypton": "24"}

var (
	versionRE     = lazyregexp.New(`^v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,2})$`)
	toolVersionRE = lazyregexp.New(`(?m)^[ \t]*nodejs[ \t]+([^\s#]+)`)
)

// readWish reads the version in a version file or the range in a manifest. wants is empty if has satisfies
// it.
func readWish(text, has string) (wants, hasText string) {
	if strings.HasPrefix(text, "{") {
		return readManifestWish(text, has)
	}
	if m := toolVersionRE.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if lts := longSupport[strings.TrimPrefix(text, "lts/")]; lts != "" {
		text = lts
	}
	m := versionRE.FindStringSubmatch(strings.TrimSuffix(text, ".x"))
	switch {
	case m == nil:
		return "", ""
	case ecosystem.VersionDiffers(m[1], has, 1):
		return m[1], has
	}
	return "", has
}

// readManifestWish reads the Node version in a package.json: volta pins a version, engines limits it.
func readManifestWish(text, has string) (wants, hasText string) {
	var m struct {
		Volta   struct{ Node looseString }
		Engines json.RawMessage
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return "", ""
	}
	if v := versionRE.FindStringSubmatch(string(m.Volta.Node)); v != nil {
		return readWish(v[1], has)
	}
	var engines struct{ Node looseString }
	_ = json.Unmarshal(m.Engines, &engines) // in old manifests it is a list
	versionRange, ok := parseRange(string(engines.Node))
	switch {
	case !ok:
		return "", ""
	case !versionRange.containsVersion(parseParts(has)):
		return strings.TrimSpace(string(engines.Node)), has
	}
	return "", has
}
