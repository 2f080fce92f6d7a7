// Package debian implements the protocol of Debian's archives and reads apt's settings. They serve the commands that
// set up an image. No lock file names their packages, no worker can install them and no task can add them. Therefore
// Debian is not an ecosystem of a project.
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
	"company/internal/lib/lazyregexp"
)

// Archives is Debian's kind of registry.
type Archives struct{}

// Registry returns a registry without a grammar of names, because permissions are given by suite.
func (Archives) Registry() ecosystem.Registry { return ecosystem.Registry{Name: ecosystem.Debian} }

// Debian's own grammars. No element of a path begins with a dot, so no path leads upwards.
var (
	suiteRE     = lazyregexp.New(`^[a-z][a-z0-9-]{0,63}$`)
	componentRE = lazyregexp.New(`^[a-z][a-z0-9-]{0,63}$`)
	archiveRE   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.+~_-]{0,254}$`)
	indexRE     = lazyregexp.New(
		`^(InRelease|Release|Release\.gpg|(Packages|Translation-[A-Za-z_]{2,12})(\.(xz|gz|bz2|lzma|zst))?)$`)
)

// byHash maps the folders for files that are named by digest to the digest's size in bytes.
var byHash = map[string]int{"SHA256": 32, "SHA512": 64}

const (
	maxArchivePath = 512         // bytes
	debMagic       = "!<arch>\n" // every .deb file begins with it
)

// Serve serves <number of the archive>/dists/<suite>/… and …/pool/…. The number hides the operator's hosts from
// containers.
func (Archives) Serve(ctx context.Context, request ecosystem.Request) (*ecosystem.Answer, error) {
	path, err := url.PathUnescape(request.Path) // apt writes + as %2b
	if err != nil || len(path) > maxArchivePath || strings.Contains(strings.ToLower(request.Path), "%2f") {
		return nil, ecosystem.ErrNoPath
	}
	part := strings.Split(path, "/")
	if slices.ContainsFunc(part, func(p string) bool { return !archiveRE.MatchString(p) }) {
		return nil, ecosystem.ErrNoPath
	}
	endpoints := request.Upstream().Endpoints
	n, err := strconv.Atoi(part[0])
	if err != nil || n < 0 || n >= len(endpoints) || strconv.Itoa(n) != part[0] || len(part) < 4 {
		return nil, ecosystem.ErrNoPath
	}
	archive, part := endpoints[n], part[1:]
	fetch := ecosystem.Fetch{URL: archive.URL + "/" + strings.ReplaceAll(strings.Join(part, "/"), "+", "%2B"),
		RawBytes: true}
	switch last := part[len(part)-1]; part[0] {
	case "dists":
		if _, ok := archive.Parts[part[1]]; !ok {
			return nil, ecosystem.ErrNoPath
		}
		if !request.AllowsPart(part[1]) {
			return nil, refuse(request, part[1])
		}
		if !isIndexFile(part, &fetch) {
			return nil, ecosystem.ErrNoPath
		}
		fetch.Limit = ecosystem.MaxMetadata
		f, err := request.Get(ctx, fetch)
		return &ecosystem.Answer{File: f, Media: ecosystem.BinaryFile}, err
	case "pool":
		if !slices.ContainsFunc(slices.Collect(maps.Keys(archive.Parts)), request.AllowsPart) {
			return nil, refuse(request, "pool")
		}
		if strings.HasSuffix(last, ".deb") {
			fetch.Check = ecosystem.BeginsWith(debMagic) // reject the page of a captive portal, which would be kept forever
		}
		name, version, _ := strings.Cut(strings.TrimSuffix(last, ".deb"), "_")
		return request.Package(ctx, company.Dependency{Ecosystem: ecosystem.Debian, Name: name, Version: version}, fetch,
			ecosystem.BinaryFile)
	}
	return nil, ecosystem.ErrNoPath
}

// isIndexFile reports whether apt needs this path below dists. For a by-hash path, it sets the digest in fetch and
// marks the file as immutable.
func isIndexFile(part []string, fetch *ecosystem.Fetch) bool {
	last := part[len(part)-1]
	if len(part) < 5 || part[len(part)-3] != "by-hash" {
		return indexRE.MatchString(last)
	}
	algorithm := part[len(part)-2]
	sum, err := hex.DecodeString(last)
	if err != nil || byHash[algorithm] == 0 || len(sum) != byHash[algorithm] {
		return false
	}
	fetch.Immutable, fetch.Digest = true, ecosystem.Digest{Algorithm: strings.ToLower(algorithm), Sum: sum}
	return true
}

func refuse(r ecosystem.Request, name string) error {
	return r.Refuse(company.Dependency{Ecosystem: ecosystem.Debian, Name: name},
		"Debian packages are for container.setup only: install those that the project needs in its image")
}

// SourceLines returns lines of a sources.list for those suites that the operator's archives have.
func (Archives) SourceLines(upstream ecosystem.Upstream, address, keyring string, suites []string) []string {
	var lines []string
	for n, endpoint := range upstream.Endpoints {
		for _, s := range suites {
			if c := endpoint.Parts[s]; len(c) > 0 {
				lines = append(lines, "deb [signed-by="+keyring+"] "+address+"/"+strconv.Itoa(n)+" "+s+" "+strings.Join(c, " "))
			}
		}
	}
	return lines
}
