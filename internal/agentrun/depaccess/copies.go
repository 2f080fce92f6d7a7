package depaccess

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

// scope decides which files of a tree are left out because they belong to copies of other projects or to test
// material. No client of the project reads them. If the tree leads a client there, they count as the project's
// own.
type scope struct {
	led       []string // folded folders of copies that a link or a manifest leads to
	hasAll    bool     // leave nothing out, because the base's settings lead clients to any folder
	isSteered bool     // clients may be led elsewhere than by the base, so files that differ from the base count
	mayLead   bool     // the branch's settings may move lock files, so every file counts
	had       map[string]gitops.Entry
}

// leadingRE matches a line of a branch's settings that may move lock files, after all characters except letters
// are removed. Before that, escapedRE matches lines with an escape, or with a variable in the key.
var (
	leadingRE = lazyregexp.New(`(?i)lockfile|cwd|userconfig|globalconfig|gemfile`)
	escapedRE = lazyregexp.New(`\\|^[^=:]*\$`)
	lettersRE = lazyregexp.New(`[^A-Za-z]+`)
)

// maxLed limits the folders of copies that a tree leads to. If there are more, no file is left out.
const maxLed = 1000

// maxRounds limits chains of manifests that lead from one to the next. If a chain is longer, no file is left
// out.
const maxRounds = 40

// settingsRE matches the path of a file with client settings, or of a link instead of its folder. Such settings
// may move a lock file or list projects with their own lock files.
var settingsRE = lazyregexp.New(
	`(?i)(?:^|/)(?:\.npmrc|pnpm-workspace\.yaml|\.yarnrc(?:\.yml)?|\.(?:bundle|cargo)(?:/config(?:\.toml)?)?)$`)

// placeRE matches a line of the base's settings that moves lock files. The base is trusted, so it matches lines
// in their usual form. A branch's settings are compared as a whole.
var placeRE = lazyregexp.New(
	`(?im)^\s*["']?(?:lockfile-?dir|shared-?workspace-?lockfile|lockfileFilename|BUNDLE_GEMFILE|BUNDLE_LOCKFILE|lockfile-path|userconfig|globalconfig|--(?:[a-z]+\.)?cwd)\b`)

// findScope determines the files that are left out in a tree that is based on base. These are files that the
// base has unchanged, and other files if the tree has the base's settings. It also returns the tree's entries.
func findScope(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (*scope, []gitops.Entry, error) {
	entries, err := mirror.List(ctx, at)
	if err != nil || !slices.ContainsFunc(entries, func(e gitops.Entry) bool {
		return isCopied(e.Path) && (depproxy.IsLockFile(e.Path) || settingsRE.MatchString(e.Path))
	}) {
		return &scope{}, entries, err
	}
	before, err := mirror.List(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	s, err := compareScopes(ctx, before, entries, base == at, func(all []gitops.Entry, each eachFunc) error {
		return mirror.ReadFiles(ctx, all, each)
	})
	return s, entries, err
}

// readFunc calls each with the text of every entry, one after the other.
type readFunc func(all []gitops.Entry, each eachFunc) error

type eachFunc = func(e gitops.Entry, text []byte) error

// compareScopes implements findScope for the entries of both trees.
func compareScopes(
	ctx context.Context, before, entries []gitops.Entry, isBase bool, read readFunc,
) (*scope, error) {
	s := &scope{}
	if err := s.findLed(ctx, entries, read); err != nil {
		return nil, err
	}
	was := s
	if !isBase {
		was = &scope{}
		if err := was.findLed(ctx, before, read); err != nil {
			return nil, err
		}
		s.compareSettings(was, entries, before)
		if err := s.findUnclear(entries, before, read); err != nil {
			return nil, err
		}
	}
	var settings []gitops.Entry
	for _, entry := range before {
		if isFile(entry) && entry.Size <= maxManifest && was.isSettings(entry.Path) {
			settings = append(settings, entry)
		}
	}
	leadsFrom, lines := false, map[string][]string{}
	err := read(settings, func(entry gitops.Entry, text []byte) error {
		leadsFrom = leadsFrom || placeRE.Match(text)
		lines[entry.Path] = splitLines(text)
		return nil
	})
	if err == nil && s.isSteered {
		err = s.findLeading(entries, lines, read)
	}
	s.hasAll = s.hasAll || leadsFrom
	return s, err
}

// findLeading sets mayLead if settings that differ from the base may move lock files, even in copies that the
// base has.
func (s *scope) findLeading(entries []gitops.Entry, had map[string][]string, read readFunc) error {
	var changed []gitops.Entry
	for _, entry := range entries {
		switch {
		case s.had[entry.Path] == entry || !s.isSettings(entry.Path):
		case !isFile(entry) || entry.Size > maxManifest:
			s.mayLead = true
		default:
			changed = append(changed, entry)
		}
	}
	return read(changed, func(entry gitops.Entry, text []byte) error {
		for _, line := range splitLines(text) {
			isLeading := escapedRE.MatchString(line) || leadingRE.MatchString(lettersRE.ReplaceAllString(line, ""))
			s.mayLead = s.mayLead || isLeading && !slices.Contains(had[entry.Path], line)
		}
		return nil
	})
}

// leavesOut reports whether no client of the project reads an entry of the tree.
func (s *scope) leavesOut(e gitops.Entry) bool {
	return s.isCopy(e.Path) && !s.mayLead && !(s.isSteered && s.had[e.Path] != e)
}

// isCopy reports whether a path is in a copy that the tree does not lead to.
func (s *scope) isCopy(file string) bool {
	if s.hasAll || !isCopied(file) {
		return false
	}
	file = gitops.FoldName(file)
	return !slices.ContainsFunc(s.led, func(dir string) bool { return isBelow(file, dir) })
}

func (s *scope) isSettings(file string) bool { return settingsRE.MatchString(file) && !s.isCopy(file) }

// compareSettings sets isSteered if the settings of clients differ from the base's. The target of a link is not
// compared.
func (s *scope) compareSettings(was *scope, entries, before []gitops.Entry) {
	s.had = map[string]gitops.Entry{}
	had := 0
	for _, entry := range before {
		s.had[entry.Path] = entry
		if was.isSettings(entry.Path) {
			had++
		}
	}
	for _, entry := range entries {
		if s.isSettings(entry.Path) {
			had--
			s.isSteered = s.isSteered || s.had[entry.Path] != entry || was.isCopy(entry.Path) || !isFile(entry)
		}
	}
	s.isSteered = s.isSteered || had != 0
}

// findUnclear sets isSteered if manifests have paths that the base's lack and that only their client can
// resolve.
func (s *scope) findUnclear(entries, before []gitops.Entry, read readFunc) error {
	changed, texts := map[string]bool{}, map[string][]byte{}
	isChanged := func(e gitops.Entry) bool { return changed[e.Path] && isFile(e) && e.Size <= depproxy.MaxLockFile }
	for _, entry := range entries {
		changed[entry.Path] = s.had[entry.Path] != entry && depproxy.IsLockFile(entry.Path) && mayName(entry.Path) &&
			!s.isCopy(entry.Path)
	}
	err := read(filterEntries(before, isChanged), func(entry gitops.Entry, text []byte) error {
		texts[entry.Path] = bytes.Clone(text)
		return nil
	})
	if err != nil {
		return err
	}
	return read(filterEntries(entries, isChanged), func(entry gitops.Entry, text []byte) error {
		s.isSteered = s.isSteered || hasUnclear(text, texts[entry.Path])
		return nil
	})
}

func filterEntries(entries []gitops.Entry, keeps func(e gitops.Entry) bool) (out []gitops.Entry) {
	for _, entry := range entries {
		if keeps(entry) {
			out = append(out, entry)
		}
	}
	return out
}

// lead describes a file of the tree that leads a client to a folder: a link, or a manifest.
type lead struct {
	from   string // folded
	isCopy bool   // the file is in a copy itself
	to     string // folded
}

// findLed finds the folders of copies that a client reaches by links and manifests. It starts with files outside
// of all copies, and then follows files within the folders that were found.
func (s *scope) findLed(ctx context.Context, entries []gitops.Entry, read readFunc) error {
	var linked, manifests []gitops.Entry
	named := newNamedPlaces()
	for _, entry := range entries {
		names := mayName(entry.Path)
		switch {
		case entry.Mode == gitops.ModeSymlink && entry.Size <= maxPath:
			linked = append(linked, entry)
		case isFile(entry) && names:
			manifests = append(manifests, entry)
		}
		if isCopied(entry.Path) && (names || entry.Mode == gitops.ModeSymlink || depproxy.IsLockFile(entry.Path)) {
			named.add(gitops.FoldName(entry.Path))
		}
	}
	leads, err := readLinks(ctx, linked, read)
	if err != nil {
		return err
	}
	s.followLeads(leads)
	s.hasAll = s.hasAll || len(named.seen) > maxPlaces
	total, isRead := int64(0), map[string]bool{}
	for round := 0; !s.hasAll; round++ {
		pending := filterEntries(manifests, func(e gitops.Entry) bool { return !isRead[e.Path] && !s.isCopy(e.Path) })
		for _, entry := range pending {
			isRead[entry.Path] = true
			total += entry.Size
			s.hasAll = s.hasAll || entry.Size > depproxy.MaxLockFile || total > maxLockBytes || round > maxRounds
		}
		if len(pending) == 0 || s.hasAll {
			break
		}
		err := read(pending, func(entry gitops.Entry, text []byte) error {
			found, isAny := named.find(entry.Path, text)
			s.hasAll = s.hasAll || isAny
			for _, folder := range found {
				leads = append(leads, lead{gitops.FoldName(entry.Path), isCopied(entry.Path), folder})
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		s.followLeads(leads)
	}
	return nil
}

// readLinks returns the targets of the links of a tree.
func readLinks(ctx context.Context, linked []gitops.Entry, read readFunc) (leads []lead, err error) {
	links := newTreeLinks()
	err = read(linked, func(e gitops.Entry, text []byte) error {
		links.add(gitops.FoldName(e.Path), gitops.FoldName(string(text)))
		return nil
	})
	for _, entry := range linked {
		if err != nil {
			return nil, err
		}
		var to string
		from := gitops.FoldName(entry.Path)
		if to, err = links.resolve(ctx, from); to != "" {
			leads = append(leads, lead{from, isCopied(entry.Path), to})
		}
	}
	return leads, err
}

// followLeads adds the folders of copies that can be reached.
func (s *scope) followLeads(leads []lead) {
	for _, l := range leads {
		if !l.isCopy {
			s.addLed(l.to)
		}
	}
	for i := 0; i < len(s.led) && !s.hasAll; i++ {
		for _, l := range leads {
			if l.isCopy && isBelow(l.from, s.led[i]) {
				s.addLed(l.to)
			}
		}
	}
}

// addLed adds a folder if it is in a copy.
func (s *scope) addLed(dir string) {
	if s.isCopy(dir + "/") {
		s.led = append(s.led, dir)
	}
	s.hasAll = s.hasAll || len(s.led) > maxLed
}

func isBelow(file, dir string) bool { return strings.HasPrefix(file, dir+"/") }

func isFile(e gitops.Entry) bool { return e.Mode == gitops.ModeFile || e.Mode == gitops.ModeExec }

// copiesNames lists the names of folders with copies of other projects, or with test material.
var copiesNames = []string{"node_modules", "vendor", "third_party", "testdata", "site-packages"}

func isCopiesName(name string) bool { return slices.Contains(copiesNames, name) }

// isCopied reports whether a path is in a folder of copiesNames.
func isCopied(file string) bool {
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		if isCopiesName(part) {
			return true
		}
	}
	return false
}
