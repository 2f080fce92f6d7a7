package yarn

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/locktree"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
)

// LockFile is the lock file of a project, including its workspaces. All versions of yarn use this name.
const LockFile = "yarn.lock"

// AddCommand returns the yarn command that adds a dependency, or "" for other registries.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.NPM {
		return ""
	}
	return "yarn add " + dependency.Name + "@" + dependency.Version
}

// IsLockFile reports whether a file is yarn's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == LockFile }

// metadata is a key that only lock files of later yarns have.
const metadata = "__metadata"

// request is a dependency of a manifest. It names a package, which may have an alias.
type request struct{ head, name, as, version string }

// entry is a package of a lock file.
type entry struct {
	node     *locktree.Node
	requests []request
	of       company.Dependency // by the first request, and the version
	// Yarn finds the package by these: a later yarn by resolution, yarn 1 by resolved and integrity.
	resolution, resolved, integrity string
	isNew                           bool // from a lock file of a later yarn
}

// isWorkspace reports whether the entry is a workspace of a later yarn, which is a folder of the tree.
func (e entry) isWorkspace() bool {
	return e.isNew && (workspaceRE.MatchString(e.resolution) || e.resolution == "" && e.asksForWorkspace())
}

// isOwn reports whether the entry of a later yarn is a file of the tree or a folder that is not a
// workspace.
func (e entry) isOwn() bool { return e.isNew && treeRE.MatchString(e.resolution) }

// isArchive reports whether an address of yarn 1 is a file of the tree and all requests are for that file.
func (e entry) isArchive(at string) bool {
	local, isFile := strings.CutPrefix(at, "file:")
	isOther := func(r request) bool { return r.version != at }
	return isFile && filepath.IsLocal(local) && !slices.ContainsFunc(e.requests, isOther)
}

func (e entry) asksForWorkspace() bool {
	return slices.ContainsFunc(e.requests, func(r request) bool { return strings.HasPrefix(r.version, "workspace:") })
}

var (
	// requestRE matches a request: a name, and a version, tag or address.
	requestRE = lazyregexp.New(`^((?:@[^@/",\s]+/)?[^@/",\s]+)@(.*)$`)
	// aliasRE matches a request with an alias: npm:name@version. For yarn 1 the version is optional.
	aliasRE    = lazyregexp.New(`^npm:((?:@[^@/",\s]+/)?[^@/",:\s]+)@(.*)$`)
	oldAliasRE = lazyregexp.New(`^npm:((?:@[^@/",\s]+/)?[^@/",:\s]+)(?:@(.*))?$`)
	// workspaceRE matches a resolution that is a workspace of the tree.
	workspaceRE = lazyregexp.New(`^(?:@[^@/",\s]+/)?[^@/",\s]+@workspace:[^:]*$`)
)

// readLock parses a lock file of any version of yarn. fault is an error in its lines. The entries are
// returned all the same.
func readLock(text []byte) (out []entry, isNew bool, fault error) {
	root, read := (*locktree.Node)(nil), locktree.ReadOld
	if isNew = laterLockRE.Match(text); isNew {
		read = locktree.ReadYAML
	}
	root, fault = read(text)
	for _, n := range root.Nodes {
		if !isNew || n.Key() != metadata {
			out = append(out, readEntry(n, isNew))
		}
	}
	return out, isNew, fault
}

func readEntry(n *locktree.Node, isNew bool) entry {
	item := entry{node: n, isNew: isNew, resolution: n.TextOf("resolution"), resolved: n.TextOf("resolved"),
		integrity: n.TextOf("integrity")}
	heads, alias := n.Keys, oldAliasRE
	if isNew {
		heads, alias = strings.Split(n.Key(), ","), aliasRE
	}
	for _, head := range heads {
		var r request
		if m := requestRE.FindStringSubmatch(strings.TrimSpace(head)); m != nil {
			r = request{strings.TrimSpace(head), m[1], m[1], m[2]}
		}
		if m := alias.FindStringSubmatch(r.version); m != nil {
			r.name, r.version = m[1], m[2]
		}
		item.requests = append(item.requests, r)
	}
	item.of = company.Dependency{Ecosystem: ecosystem.NPM, Version: n.TextOf("version")}
	if len(item.requests) > 0 {
		item.of.Name = item.requests[0].name
	}
	return item
}

// ParseDigests returns the digests of a lock file of yarn 1. Lock files of later yarns hold digests of
// archives that yarn creates from tarballs.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	out := node.Digests{}
	entries, _, _ := readLock(text)
	for _, entry := range entries {
		if entry.integrity != "" && entry.of.Name != "" && entry.of.Version != "" {
			out.Add(entry.of, entry.integrity)
		}
	}
	return out
}

// noArchive replaces the missing digest of a package for some systems only. A later yarn records no digest
// for its archive.
const noArchive = "none"

// ParseFileDigests returns the digests of a later yarn's archives. Yarn creates these archives from
// tarballs, patches and clones. A key describes how, so digests with different keys are for different
// files. Files in the tree are left out, because they may change at any time. A package that does not come
// unchanged from the registry has its address in place of the version.
func (Ecosystem) ParseFileDigests(_ string, text []byte) (out []ecosystem.FileDigest) {
	entries, isNew, _ := readLock(text)
	if !isNew {
		return nil // ParseAddresses returns them
	}
	root, _ := locktree.ReadYAML(text)
	usualKey := root.Find(metadata).TextOf("cacheKey")
	for _, entry := range entries {
		if entry.isWorkspace() || entry.isOwn() {
			continue
		}
		key, sum, hasKey := strings.Cut(entry.node.TextOf("checksum"), "/")
		if !hasKey {
			key, sum = usualKey, key
		}
		if sum == "" && entry.node.Find("conditions") != nil {
			sum = noArchive
		}
		if m := locatorRE.FindStringSubmatch(entry.resolution); m != nil && !registryRE.MatchString(entry.resolution) {
			entry.of.Version = m[1]
		}
		out = append(out, ecosystem.FileDigest{Dependency: entry.of, Sum: sum, Form: key, Of: ecosystem.OfClient})
	}
	return out
}

// ParseAddresses returns the addresses in a lock file of any version of yarn.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	entries, _, _ := readLock(text)
	out = listRequests(entries)
	for _, entry := range entries {
		if entry.of.Name == "" {
			entry.of.Name = entry.node.Key()
		}
		if entry.isNew {
			if entry.isWorkspace() {
				continue
			}
			isOfRegistry := registryRE.MatchString(entry.resolution) || patchRE.MatchString(entry.resolution)
			if programs := entry.node.Find("bin").Values(); !entry.isOwn() && (len(programs) > 0 || isOfRegistry) {
				out = append(out, node.NewPrograms(entry.of, programs))
			}
			if at := addressOf(entry.resolution); at != "" {
				out = append(out, ecosystem.Address{Dependency: entry.of, At: at})
			}
			continue
		}
		if entry.resolved == "" {
			continue
		}
		// The text after # is the digest of an archive or the commit of a repository. That digest is weak. npm
		// also reads the file and does not compare this digest, so it does not excuse a different address.
		at, behind, _ := strings.Cut(entry.resolved, "#")
		weak := ""
		if sum, err := hex.DecodeString(behind); err == nil && len(sum) == 20 && !strings.HasPrefix(at, "git") {
			weak = node.WriteSHA1(sum)
		} else {
			at = entry.resolved
		}
		if entry.isArchive(at) {
			continue
		}
		out = append(out, node.NewAddress(entry.of, at, entry.integrity))
		out = append(out, node.NewDigests(entry.of, cmp.Or(entry.integrity, weak))...)
	}
	return out
}

// listRequests lists requests that no entry has in its head, since yarn resolves those again. Valid files
// contain some: the manifest's field resolutions replaces requests, and workspaces of yarn 1 have no entry.
// These requests are still for packages of the registry. Requests for aliases, files and addresses are
// listed even if an entry has them.
func listRequests(entries []entry) (out []ecosystem.Address) {
	heads := map[string]bool{}
	for _, e := range entries {
		for _, r := range e.requests {
			heads[r.head] = true
		}
	}
	for _, item := range entries {
		if item.isWorkspace() {
			continue
		}
		for _, field := range []string{"dependencies", "optionalDependencies"} {
			for name, request := range item.node.Find(field).Values() {
				rest, _ := strings.CutPrefix(request, "npm:")
				isAlias := rest != request && (!item.isNew || strings.LastIndexByte(rest, '@') > 0)
				hasHead := heads[name+"@"+request] || item.isNew && heads[name+"@npm:"+request]
				if hasHead && !isAlias && rangeRE.MatchString(request) {
					continue
				}
				if item.isNew && !isAlias { // a later yarn writes npm: before a range
					request = rest
				}
				out = append(out, node.NewRequest(item.of, name, request))
			}
		}
	}
	return out
}

var (
	// rangeRE matches a request for versions in the registry.
	rangeRE = lazyregexp.New(`^(?:npm:)?[A-Za-z0-9.^~<>=|*+ -]*$`)
	// locatorRE matches a resolution: a name and the location of its package.
	locatorRE = lazyregexp.New(`^(?:@[^@/",\s]+/)?[^@/",\s]+@(.+)$`)
	// plainRE matches a location that needs no address: a version in the registry, or a file of the tree.
	plainRE = lazyregexp.New(`^(?:npm:[^:]+|(?:patch|link|portal|file):.*)$`)
)

// addressOf returns the address in a resolution of a later yarn. A version in the registry may have an
// address in __archiveUrl. Otherwise the result is empty. In any other resolution, the text after the name
// is the address.
func addressOf(resolution string) string {
	at := resolution
	if m := locatorRE.FindStringSubmatch(resolution); m != nil {
		at = m[1]
	}
	if plainRE.MatchString(at) {
		return ""
	}
	if _, behind, has := strings.Cut(at, "::__archiveUrl="); has {
		if decoded, err := url.QueryUnescape(behind); err == nil {
			return decoded
		}
	}
	return at // compared as it is, because yarn may decode it differently
}

// ParseLock lists the packages that a lock file of any version of yarn names.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	entries, _, _ := readLock(text)
	for _, entry := range entries {
		if entry.of.Name != "" && entry.of.Version != "" && !entry.isWorkspace() && !entry.isOwn() {
			out = append(out, entry.of)
		}
	}
	return out, nil
}

// ListForAnySystem lists the registry packages that a later yarn requests on every system. Packages for
// some systems only have conditions and are left out. Also left out are packages in the tree, patched
// packages and packages with their own address.
func ListForAnySystem(lock []byte) (out []company.Dependency) {
	entries, isNew, _ := readLock(lock)
	for _, entry := range entries {
		if m := registryRE.FindStringSubmatch(entry.resolution); isNew && m != nil && m[3] == "" &&
			entry.node.Find("conditions") == nil {
			out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: m[1], Version: m[2]})
		}
	}
	return out
}
