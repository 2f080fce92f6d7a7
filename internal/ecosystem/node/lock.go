package node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

const namePart = `[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}` // old names have capitals

var (
	nameRE = lazyregexp.New(`^(@` + namePart + `/)?` + namePart + `$`)
	// rootTarballRE matches a path of a tarball at the root of the host. For a lock file that names the public
	// registry, npm keeps the path of the address and replaces only the host.
	rootTarballRE = lazyregexp.New(`^/(@` + namePart + `(/|%2[fF]))?` + namePart + `/-/` + namePart + `\.tgz$`)
)

// Registry returns npm's registry.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.NPM, CheckName: checkName, RootPath: rootTarballRE, ErrorField: "error"}
}

func checkName(name, version string) error {
	if !IsName(name) {
		return ecosystem.NameError(name, "the name of an npm package")
	}
	return ecosystem.CheckSemver(version)
}

// IsName reports whether a text is a valid package name.
func IsName(name string) bool {
	isReserved := name == "node_modules" || name == "favicon.ico"
	return nameRE.MatchString(name) && !strings.Contains(name, "..") && len(name) <= 214 && !isReserved
}

// IsPlace reports whether a text names one folder below node_modules or below a scope there. It may be the
// name of a package or of an alias, which need not exist in a registry.
func IsPlace(name string) bool {
	scope, rest, isScoped := strings.Cut(name, "/")
	if isScoped && (!strings.HasPrefix(scope, "@") || !isPart(rest)) {
		return false
	}
	return isPart(scope) && !strings.ContainsAny(name, "\\:")
}

// isPart reports whether a text is a plain file name that leads to no other folder.
func isPart(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.EqualFold(name, "node_modules") &&
		!strings.Contains(name, "/")
}

// AddCommand returns the npm command that adds a dependency, or "" for other registries.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.NPM {
		return ""
	}
	return "npm install " + dependency.Name + "@" + dependency.Version
}

// IsLockFile reports whether a file is npm's lock file.
func (Ecosystem) IsLockFile(file string) bool {
	name := path.Base(file)
	return name == "package-lock.json" || name == "npm-shrinkwrap.json"
}

// lockedPackage is an entry of a lock file, with exact field names.
type lockedPackage struct {
	Name, Version, Integrity, Resolved string
	Link, InBundle                     bool
	IsOld                              bool              // from the older list, which has no programs
	Bin                                map[string]string // programs by name
	Needs                              []need
	Bundles                            []string // names of the packages in its archive
}

// isBundled reports whether the lock file claims that an entry is in the archive of a package above it. The
// type bundles determines whether that is true.
func (p lockedPackage) isBundled(where string) bool {
	depth := strings.Count(where, "node_modules/")
	return p.InBundle && p.Resolved+p.Integrity == "" && depth > 1 && depth <= maxNesting
}

// need is a dependency of an entry on another package.
type need struct{ name, request string }

// isRange reports whether a request is for versions in the registry. For those, npm 6 uses the packages in
// its list.
func (n need) isRange() bool { return !strings.ContainsAny(n.request, ":/") }

// readPackages returns the entries by their place in the tree. It returns an empty map for a text that is
// not such a lock file.
func readPackages(text []byte) map[string]lockedPackage {
	lock := ecosystem.FieldsOf(text)
	var packages map[string]map[string]json.RawMessage
	_ = json.Unmarshal(lock["packages"], &packages) // npm reports the error
	out := make(map[string]lockedPackage, len(packages))
	for where, f := range packages {
		pkg := readFields(f)
		pkg.Name = ecosystem.TextOf(f["name"])
		pkg.Link = string(f["link"]) == "true"
		pkg.InBundle = string(f["inBundle"]) == "true"
		_ = json.Unmarshal(f["bin"], &pkg.Bin) // CheckForm reports the error
		for _, field := range needFields {
			pkg.Needs = appendNeeds(pkg.Needs, f[field])
		}
		pkg.Bundles = listBundled([]json.RawMessage{f["bundleDependencies"], f["bundledDependencies"]}, pkg.listNeeded())
		out[where] = pkg
	}
	if lock["packages"] == nil {
		readOldList(out, "", lock["dependencies"], 0)
	}
	return out
}

// listNeeded lists the names of an entry's dependencies.
func (p lockedPackage) listNeeded() (names []string) {
	for _, n := range p.Needs {
		names = append(names, n.name)
	}
	return names
}

// listPlaces returns the packages of a lock file together with the names under which others find them.
func listPlaces(packages map[string]lockedPackage) map[need]bool {
	out := map[need]bool{}
	for where, p := range packages {
		dependency, _ := p.findDependency(where)
		if _, place, ok := cutLast(where, "node_modules/"); ok {
			out[need{place, dependency.Name}] = true
		}
	}
	return out
}

// cutVersion returns a request for an alias without its version. The older list has such requests where
// overrides in a package.json replace a dependency by an alias. CheckManifests compares that alias.
func (n need) cutVersion() need { return need{n.name, FindAliased(n.request)} }

// readFields reads the fields that entries of every lock file version have.
func readFields(f map[string]json.RawMessage) lockedPackage {
	return lockedPackage{
		Version: ecosystem.TextOf(f["version"]), Integrity: ecosystem.TextOf(f["integrity"]),
		Resolved: ecosystem.TextOf(f["resolved"]),
	}
}

// maxNesting limits the depth of the list in a lock file of the first version.
const maxNesting = 64

// readOldList reads the entries of a lock file of the first version, which are nested.
func readOldList(out map[string]lockedPackage, in string, list json.RawMessage, depth int) {
	var entries map[string]map[string]json.RawMessage
	if list == nil || depth > maxNesting || json.Unmarshal(list, &entries) != nil {
		return
	}
	for name, f := range entries {
		pkg := readFields(f)
		pkg.IsOld, pkg.InBundle = true, string(f["bundled"]) == "true"
		if alias, ok := strings.CutPrefix(pkg.Version, "npm:"); ok {
			if i := strings.LastIndexByte(alias, '@'); i > 0 {
				pkg.Name, pkg.Version = alias[:i], alias[i+1:]
			}
		} else if strings.Contains(pkg.Version, ":") { // an address
			if local, isFile := cutFile(pkg.Version); isFile && filepath.IsLocal(local) {
				pkg.Link = true
			}
			pkg.Resolved = strings.TrimSpace(pkg.Version + " " + ecosystem.TextOf(f["from"]))
		}
		pkg.Needs = appendNeeds(nil, f["requires"])
		where := in + "node_modules/" + name
		out[where] = pkg
		readOldList(out, where+"/", f["dependencies"], depth+1)
	}
}

// findDependency returns the package of an entry, by its place in the tree. ok is false for the project
// itself and for a workspace.
func (p lockedPackage) findDependency(where string) (d company.Dependency, ok bool) {
	_, name, ok := cutLast(where, "node_modules/")
	if p.Name != "" { // the package of an alias
		name = p.Name
	}
	return company.Dependency{Ecosystem: ecosystem.NPM, Name: name, Version: p.Version}, ok && !p.Link
}

// ParseDigests returns the digests in a lock file.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	out := Digests{}
	for where, pkg := range readPackages(text) {
		if d, ok := pkg.findDependency(where); ok {
			out.Add(d, pkg.Integrity)
		}
	}
	return out
}

// ParseAddresses returns the addresses in a lock file. Every location except a file or folder of the tree
// is an address, because npm also reads github:owner/name and git@host:path. No registry knows the programs
// of an archive in the tree, and such an archive may depend on packages that the lock file has. A package
// in the archive of another one must be bundled by that one.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	packages := readPackages(text)
	isThere, archives := map[string]bool{}, findBundles(packages)
	for at := range listPlaces(packages) {
		isThere[at.name] = true
	}
	out = archives.claims
	for where, pkg := range packages {
		local, isFile := cutFile(pkg.Resolved)
		isOwn := isFile && filepath.IsLocal(local)
		dependency, ok := pkg.findDependency(where)
		if pkg.Link && !filepath.IsLocal(pkg.Resolved) { // a folder outside of the tree
			out = append(out, ecosystem.Address{Dependency: dependency, At: "link: " + pkg.Resolved})
		}
		if !ok {
			continue
		}
		isInArchive := archives.found[where]
		if holder, ok := archives.holders[where]; ok && !isInArchive {
			out = append(
				out, ecosystem.Address{Dependency: dependency, At: ecosystem.NoDigest + ", in the archive of " + holder})
		} else if !isOwn && !isInArchive {
			out = append(out, NewDigests(dependency, pkg.Integrity)...)
		}
		if pkg.Resolved != "" && !isOwn {
			out = append(out, NewAddress(dependency, pkg.Resolved, pkg.Integrity))
		}
		if !isOwn && (len(pkg.Bin) > 0 || !pkg.IsOld && !isInArchive) {
			out = append(out, NewPrograms(dependency, pkg.Bin))
		}
		for _, need := range pkg.Needs {
			isFromList := pkg.IsOld && need.isRange() && !isInArchive // npm 6 uses the packages in its list for these
			if !isFromList && (!isOwn || !need.isRange() || !isThere[need.name]) {
				out = append(out, NewRequest(dependency, need.name, need.request))
			}
		}
	}
	return out
}

// NewAddress returns an address. It keeps the digest only for archives, because npm and yarn don't check a
// digest for git clones.
func NewAddress(dependency company.Dependency, at, digest string) ecosystem.Address {
	if !isArchive(at) {
		digest = ""
	}
	return ecosystem.Address{Dependency: dependency, At: at, Digest: digest}
}

// gitHosts lists hosts whose addresses npm treats as git repositories, including their subdomains
// (https://github.com/npm/hosted-git-info).
var gitHosts = []string{"github.com", "gitlab.com", "bitbucket.org", "sr.ht"}

// archiveRE matches the address of an archive in a registry, in the only spelling that all clients read
// alike. In other spellings, for example with a third slash or non-ASCII letters, npm reads another host
// than Go does.
var archiveRE = lazyregexp.New(
	`^https?://([a-z0-9.-]+)(?::[0-9]+)?/(?:[A-Za-z0-9@%._~+-]+/)*-/[A-Za-z0-9@%._~+/-]+\.tgz$`)

// isArchive reports whether every client treats an address as an archive in a registry.
func isArchive(at string) bool {
	m := archiveRE.FindStringSubmatch(at)
	return m != nil && !slices.ContainsFunc(
		gitHosts, func(of string) bool { return m[1] == of || strings.HasSuffix(m[1], "."+of) })
}

// NewDigests returns the digests of a package, each as an address. Clients look up a cached file by its
// digest alone, so another package's digest would install that package instead. A text that is not a digest
// stays unchanged, since a client may find a digest in it.
func NewDigests(dependency company.Dependency, integrity string) (out []ecosystem.Address) {
	if integrity == "" {
		return []ecosystem.Address{{Dependency: dependency, At: ecosystem.NoDigest}}
	}
	for one := range strings.SplitSeq(integrity, " ") {
		out = append(out, ecosystem.Address{Dependency: dependency, At: one})
	}
	return out
}

// FindAddresses returns the address of a version's file, its digests as lock files write them, its
// programs, its dependencies and the names in its archive. It returns nil for a version that the registry
// does not list.
func (Ecosystem) FindAddresses(
	ctx context.Context, f ecosystem.Fetcher, dependency company.Dependency, _ []string,
) ([]string, error) {
	packument, err := fetchPackument(ctx, f, dependency.Name)
	if err != nil {
		return nil, err
	}
	v, isListed := packument.Versions[dependency.Version]
	if !isListed {
		return nil, nil
	}
	dist := v.Dist
	out := append([]string{dist.Tarball, dist.Integrity}, strings.Fields(dist.Integrity)...)
	if dist.Integrity+dist.Shasum == "" {
		out = append(out, ecosystem.NoDigest) // a private registry may have none
	}
	if at, isPublic := strings.CutPrefix(dist.Tarball, "https://registry.npmjs.org/"); isPublic {
		out = append(out, "https://registry.yarnpkg.com/"+at) // the registry's other host name, which yarn writes
	}
	if sum, err := hex.DecodeString(dist.Shasum); err == nil && len(sum) > 0 {
		out = append(out, WriteSHA1(sum))
	}
	out = append(out, NewPrograms(dependency, v.listPrograms(dependency.Name)).At)
	for _, name := range v.listBundled() {
		out = append(out, NewBundled(dependency, name).At)
	}
	for _, set := range []map[string]looseString{v.Dependencies, v.OptionalDeps, v.PeerDeps} {
		for name, version := range set {
			out = append(out, NewRequest(dependency, name, string(version)).At)
			if aliased := FindAliased(string(version)); aliased != "" {
				out = append(out, NewAlias(dependency, name, aliased).At)
			}
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" }), nil
}

// WriteSHA1 formats a SHA-1 digest like an integrity field.
func WriteSHA1(sum []byte) string { return "sha1-" + base64.StdEncoding.EncodeToString(sum) }

// Digests holds the digests in a lock file of npm packages.
type Digests map[company.Dependency]ecosystem.Digest

// Add adds the digest of an integrity field. It ignores weak digests, because an attacker can create a file
// that matches. If a package has two different digests, neither is kept.
func (m Digests) Add(dependency company.Dependency, integrity string) {
	sum := ParseIntegrity(integrity)
	if sum.Algorithm != "sha512" {
		return
	}
	if old, had := m[dependency]; had && !bytes.Equal(old.Sum, sum.Sum) {
		sum = ecosystem.Digest{}
	}
	m[dependency] = sum
}

// ParseLock lists the packages that a lock file names. It reads all three lock file versions.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	if ecosystem.FieldsOf(text) == nil {
		return nil, fmt.Errorf("it is not a lock file of npm")
	}
	for where, p := range readPackages(text) {
		if d, ok := p.findDependency(where); ok {
			out = append(out, d)
		}
	}
	return out, nil
}
