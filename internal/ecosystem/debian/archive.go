// Package debian knows Debian's archives: their protocol, and apt's settings.
// They are for the commands that set an image up. No lock file names their
// packages, no worker could install them and no task can add them: it is no
// ecosystem of a project.
package debian

import (
	"context"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Archives are Debian's.
type Archives struct{}

// Registry has no grammar of names: what may be had is said by suites.
func (Archives) Registry() ecosystem.Registry { return ecosystem.Registry{Name: ecosystem.Debian} }

// Debian's own grammars. Nothing in a path begins with a dot, so no path leads
// upwards.
var (
	suiteRE     = lazyregexp.New(`^[a-z][a-z0-9-]{0,63}$`)
	componentRE = lazyregexp.New(`^[a-z][a-z0-9-]{0,63}$`)
	archiveRE   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.+~_-]{0,254}$`)
	indexRE     = lazyregexp.New(`^(InRelease|Release|Release\.gpg|(Packages|Translation-[A-Za-z_]{2,12})(\.(xz|gz|bz2|lzma|zst))?)$`)
)

// byHash are the folders of files that are named by their digest, with the
// number of its bytes.
var byHash = map[string]int{"SHA256": 32, "SHA512": 64}

const (
	maxArchivePath = 512         // bytes
	debMagic       = "!<arch>\n" // every .deb begins with it
)

// Serve serves <number of the archive>/dists/<suite>/… and …/pool/…. The number
// keeps the operator's hosts out of what a container sees.
func (Archives) Serve(ctx context.Context, r ecosystem.Request) (*ecosystem.Answer, error) {
	path, err := url.PathUnescape(r.Path) // apt writes + as %2b
	if err != nil || len(path) > maxArchivePath || strings.Contains(strings.ToLower(r.Path), "%2f") {
		return nil, ecosystem.ErrNoPath
	}
	part := strings.Split(path, "/")
	if slices.ContainsFunc(part, func(p string) bool { return !archiveRE.MatchString(p) }) {
		return nil, ecosystem.ErrNoPath
	}
	all := r.Upstream().Endpoints
	n, err := strconv.Atoi(part[0])
	if err != nil || n < 0 || n >= len(all) || strconv.Itoa(n) != part[0] || len(part) < 4 {
		return nil, ecosystem.ErrNoPath
	}
	archive, part := all[n], part[1:]
	w := ecosystem.Fetch{URL: archive.URL + "/" + strings.ReplaceAll(strings.Join(part, "/"), "+", "%2B"), RawBytes: true}
	switch last := part[len(part)-1]; part[0] {
	case "dists":
		if _, ok := archive.Parts[part[1]]; !ok {
			return nil, ecosystem.ErrNoPath
		}
		if !r.AllowsPart(part[1]) {
			return nil, refuse(r, part[1])
		}
		if !isIndexFile(part, &w) {
			return nil, ecosystem.ErrNoPath
		}
		w.Limit = ecosystem.MaxMetadata
		f, err := r.Get(ctx, w)
		return &ecosystem.Answer{File: f, Media: ecosystem.BinaryFile}, err
	case "pool":
		if !slices.ContainsFunc(slices.Collect(maps.Keys(archive.Parts)), r.AllowsPart) {
			return nil, refuse(r, "pool")
		}
		if strings.HasSuffix(last, ".deb") {
			w.Check = ecosystem.BeginsWith(debMagic) // a page of a captive portal is not kept for good
		}
		name, version, _ := strings.Cut(strings.TrimSuffix(last, ".deb"), "_")
		return r.Package(ctx, company.Dependency{Ecosystem: ecosystem.Debian, Name: name, Version: version}, w, ecosystem.BinaryFile)
	}
	return nil, ecosystem.ErrNoPath
}

// isIndexFile reports whether a path below dists is one that apt needs, and
// fills in its size and digest.
func isIndexFile(part []string, w *ecosystem.Fetch) bool {
	last := part[len(part)-1]
	if len(part) < 5 || part[len(part)-3] != "by-hash" {
		return indexRE.MatchString(last)
	}
	algorithm := part[len(part)-2]
	sum, err := hex.DecodeString(last)
	if err != nil || byHash[algorithm] == 0 || len(sum) != byHash[algorithm] {
		return false
	}
	w.Immutable, w.Digest = true, ecosystem.Digest{Algorithm: strings.ToLower(algorithm), Sum: sum}
	return true
}

func refuse(r ecosystem.Request, name string) error {
	return r.Refuse(company.Dependency{Ecosystem: ecosystem.Debian, Name: name}, "Debian packages are for container.setup only: what the project needs of them belongs into its image")
}

// SourceLines are lines of a sources.list: those of the suites that the
// operator's archives have.
func (Archives) SourceLines(u ecosystem.Upstream, address, keyring string, suites []string) []string {
	var lines []string
	for n, a := range u.Endpoints {
		for _, s := range suites {
			if c := a.Parts[s]; len(c) > 0 {
				lines = append(lines, "deb [signed-by="+keyring+"] "+address+"/"+strconv.Itoa(n)+" "+s+" "+strings.Join(c, " "))
			}
		}
	}
	return lines
}
