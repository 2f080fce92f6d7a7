package yarn

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether the file is yarn's lock file.
func (e Ecosystem) IsWritten(file string) bool { return e.IsLockFile(file) }

var (
	// oldTexts and oldLists are the fields of an entry in yarn 1's lock file, with a text and with a list.
	oldTexts = []string{"version", "resolved", "uid", "integrity", "name", "registry"}
	oldLists = []string{"dependencies", "optionalDependencies", "permissions"}
	// registryRE matches a resolution in the registry: the name, the version, and any text after it.
	registryRE = lazyregexp.New(`^((?:@[^@/",\s]+/)?[^@/",\s]+)@npm:([^:",\s]+)(?:::(.*))?$`)
	// archiveRE matches a registry address in a resolution. Yarn also decodes a percent sign without two
	// digits.
	archiveRE = lazyregexp.New(`^__archiveUrl=(?:[A-Za-z0-9._~!'()*-]|%[0-9A-F]{2})+$`)
	// treeRE matches a resolution that is a file or a folder of the tree. Its locator names the workspace that
	// asks for it.
	treeRE = lazyregexp.New(`^(?:@[^@/",\s]+/)?[^@/",\s]+@(?:file|link|portal):[^",\s]*$`)
	// boundRE matches the locator of a file or a patch, which is the workspace that asks for it.
	boundRE = lazyregexp.New(`^(?:%40[^%]+%2F)?[^%]+%40workspace%3A[A-Za-z0-9_./%@-]*$`)
	patchRE = lazyregexp.New(`^(?:@[^@/",\s]+/)?[^@/",\s]+@patch:([^#",\s]+)#[^",\s]*$`)
	// versionRE matches the version of a package.
	versionRE = lazyregexp.New(`^[!-~]+$`)
	// partRE matches a text that yarn 1 uses in the name of a cache folder.
	partRE = lazyregexp.New(`^[0-9A-Za-z.+~_-]*$`)
)

// CheckForm returns an error if yarn may read a lock file differently from this package.
func (Ecosystem) CheckForm(_ string, text []byte) error {
	entries, isNew, err := readLock(text)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		check := entry.checkOld
		if isNew {
			check = entry.checkNew
		}
		if err := check(); err != nil {
			return fmt.Errorf("the entry %s %w", safetext.Cut(strings.Join(entry.node.Keys, ", "), 100), err)
		}
	}
	return nil
}

// checkHead returns an error if the requests of an entry are not for exactly one package.
func (e entry) checkHead() error {
	if e.node.IsText() || len(e.requests) == 0 || len(e.node.Nodes) == 0 {
		return fmt.Errorf("is not valid")
	}
	isAddress := !e.isNew && e.resolved != "" // a request may be an address without a name
	for _, r := range e.requests {
		if r.name != e.of.Name || r.name == "" && !isAddress {
			return fmt.Errorf("is not for one package")
		}
	}
	if !versionRE.MatchString(e.of.Version) {
		return fmt.Errorf("has no version")
	}
	return nil
}

// ownRE matches a request for a local folder or archive.
var ownRE = lazyregexp.New(`^(?:file:|link:|\.{0,2}/)`)

// checkOld returns an error if yarn 1 may install a different package for an entry.
func (e entry) checkOld() error {
	if err := e.checkHead(); err != nil {
		return err
	}
	for _, n := range e.node.Nodes {
		known := oldLists
		if n.IsText() {
			known = oldTexts
		}
		if !slices.Contains(known, n.Key()) {
			return fmt.Errorf("has the field %s", safetext.Cut(n.Key(), 100))
		}
		for _, below := range n.Nodes {
			if !below.IsText() {
				return fmt.Errorf("has a list in its field %s", safetext.Cut(n.Key(), 100))
			}
		}
	}
	for _, field := range []string{"version", "uid", "registry"} {
		if !partRE.MatchString(e.node.TextOf(field)) {
			return fmt.Errorf("has the %s %s", field, safetext.Cut(e.node.TextOf(field), 100))
		}
	}
	// A package that is requested by its address may have another name.
	name := e.node.TextOf("name")
	isAnother := func(r request) bool {
		return r.as != "" && name != r.as && name != r.name && rangeRE.MatchString(r.version)
	}
	if name != "" && slices.ContainsFunc(e.requests, isAnother) {
		return fmt.Errorf("has the name %s", safetext.Cut(name, 100))
	}
	if e.resolved == "" && slices.ContainsFunc(e.requests, func(r request) bool { return !ownRE.MatchString(r.version) }) {
		return fmt.Errorf("has no URL")
	}
	if slices.ContainsFunc(strings.Fields(e.integrity), func(one string) bool { return !node.IsIntegrity(one) }) ||
		strings.Contains(e.resolved, " ") {
		return fmt.Errorf("has a URL or a digest that is not in yarn's form")
	}
	return nil
}

// checkNew returns an error if a later yarn may install a package that differs from the entry's head and
// version.
func (e entry) checkNew() error {
	if err := e.checkHead(); err != nil {
		return err
	}
	for _, name := range oldTexts {
		if name != "version" && e.node.Find(name) != nil { // yarn 1 would use it
			return fmt.Errorf("has the field %s", name)
		}
	}
	for _, name := range []string{"version", "resolution", "checksum", "linkType", "languageName", "conditions"} {
		if f := e.node.Find(name); f != nil && !f.IsText() {
			return fmt.Errorf("has a %s that is not a string", name)
		}
	}
	resolution := e.resolution
	if m := patchRE.FindStringSubmatch(resolution); m != nil { // check the package that it patches
		if _, bound, isBound := strings.Cut(resolution, "locator="); isBound && !boundRE.MatchString(bound) {
			return fmt.Errorf("has the resolution %s", safetext.Cut(e.resolution, 100))
		}
		inner, err := url.QueryUnescape(m[1])
		if err != nil || !registryRE.MatchString(inner) || strings.Contains(inner, "::") {
			return fmt.Errorf("patches something that is not a registry package")
		}
		resolution = inner
	}
	m := registryRE.FindStringSubmatch(resolution)
	switch {
	case e.resolution == "":
		return fmt.Errorf("has no resolution")
	case e.isWorkspace() != e.asksForWorkspace():
		return fmt.Errorf("is a workspace in only one of its key and its resolution")
	case e.isWorkspace():
		return nil
	case m != nil && m[1] == e.of.Name && m[2] == e.of.Version && (m[3] == "" || archiveRE.MatchString(m[3])):
		return nil
	case m == nil && treeRE.MatchString(resolution):
		if _, bound, isBound := strings.Cut(resolution, "locator="); isBound && boundRE.MatchString(bound) &&
			e.asksFor(resolution) {
			return nil
		}
	case m == nil && locatorRE.MatchString(resolution) && !strings.ContainsAny(resolution, " \",") &&
		addressOf(resolution) != "" && !strings.Contains(resolution, "::"):
		return nil // an address, which is compared
	}
	return fmt.Errorf("has the resolution %s", safetext.Cut(e.resolution, 100))
}

// asksFor reports whether all requests of an entry are for the file or folder in its resolution.
func (e entry) asksFor(resolution string) bool {
	lies := locatorRE.FindStringSubmatch(resolution)
	at, _, _ := strings.Cut(lies[1], "#")
	at, _, _ = strings.Cut(at, "::")
	return !slices.ContainsFunc(e.requests, func(r request) bool {
		asked, _, _ := strings.Cut(r.version, "::")
		return asked != at
	})
}
