package pnpm

import (
	"strings"

	"company/internal/ecosystem/locktree"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
)

// format describes the keys in one version of the lock file. The client reads a key in the form of another
// version as a different package or as a path.
type format struct {
	prefix, separator string // text before and after the name in a key
	// packageRE matches a registry package: its name, its version and its peers.
	packageRE *lazyregexp.Regexp
	// otherRE matches any other key: its name and the location of its package.
	otherRE *lazyregexp.Regexp
	// peersSign begins the peers. From version 6 on it is a bracket, and brackets may be nested.
	peersSign string
	// isSplit means that only the section snapshots has peers in its keys.
	isSplit bool
}

const (
	namePart    = `((?:@[^@/\\\s():]+/)?[^@/\\\s():]+)`
	versionPart = `([0-9][0-9A-Za-z.+-]*)`
)

var (
	newest = format{
		separator: "@", peersSign: "(", isSplit: true,
		packageRE: lazyregexp.New(`^` + namePart + `@` + versionPart + `(\(.*\))?$`),
		otherRE:   lazyregexp.New(`^` + namePart + `@(.+)$`),
	}
	formats = map[byte]format{
		'9': newest,
		'6': { // the client takes the first /@ for the start of a scope
			prefix: "/", separator: "@", peersSign: "(",
			packageRE: lazyregexp.New(`^/` + namePart + `@` + versionPart + `(\((?:[^/]|/[^@])*\))?$`),
			otherRE:   lazyregexp.New(`^()([^/].*)$`),
		},
		'5': {
			prefix: "/", separator: "/", peersSign: "_",
			packageRE: lazyregexp.New(`^/` + namePart + `/` + versionPart + `(_[^/\\\s()]+)?$`),
			otherRE:   lazyregexp.New(`^()([^/].*)$`),
		},
	}
	formatRE = lazyregexp.New(`^[569]\.[0-9]+(?:-inlineSpecifiers)?$`)
)

// formatOf returns the format of a lock file. For an unknown version it returns the newest format and
// false.
func formatOf(root *locktree.Node) (f format, ok bool) {
	version := root.TextOf("lockfileVersion")
	if !formatRE.MatchString(version) {
		return newest, false
	}
	return formats[version[0]], true
}

// locator is the target of a key or reference. It is a registry package with a version, a file or folder of
// the tree, or a package at an address, which may have a name.
type locator struct {
	name, version string
	local         string
	isLocal       bool
}

func (l locator) isAddress() bool { return l.version == "" && !l.isLocal }

// readKey parses the key of a package or a snapshot.
func (f format) readKey(key string) locator {
	if m := f.packageRE.FindStringSubmatch(key); m != nil && node.IsName(m[1]) && areClosed(m[3]) {
		return locator{name: m[1], version: m[2]}
	}
	m := f.otherRE.FindStringSubmatch(key)
	if m == nil {
		return locator{}
	}
	kind, at, _ := strings.Cut(m[2], ":")
	if kind != "file" && kind != "link" && kind != "workspace" {
		return locator{name: m[1]}
	}
	at, _, _ = strings.Cut(at, "(")
	return locator{name: m[1], local: at, isLocal: true}
}

// readReference parses a reference in a list of dependencies and returns the key of its package. If the
// reference is only a version, place is the package's name.
func (f format) readReference(place, reference string) (l locator, key string) {
	if at, isLink := strings.CutPrefix(reference, "link:"); isLink {
		return locator{local: at, isLocal: true}, reference
	}
	l, joined := f.readKey(reference), f.prefix+place+f.separator+reference
	if l == (locator{}) {
		if named := f.readKey(joined); named.version != "" || f.isSplit {
			return named, joined
		}
	}
	return l, reference
}

// isWithoutPeers reports whether a text equals a key without its peers.
func (f format) isWithoutPeers(text, key string) bool {
	return text == key || strings.HasPrefix(key, text+f.peersSign)
}

// areClosed reports whether all brackets of peers are closed and no text is between the outer ones.
func areClosed(peers string) bool {
	if !strings.HasPrefix(peers, "(") {
		return true // peers of version 5 have no brackets
	}
	depth := 0
	for _, c := range peers {
		switch {
		case c == '(':
			depth++
		case depth == 0:
			return false
		case c == ')':
			depth--
		}
	}
	return depth == 0
}
