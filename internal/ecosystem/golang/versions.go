package golang

import (
	"context"
	"go/version"
	"runtime"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// The Go project publishes its releases as versions of a module. The go command fetches them itself and verifies them
// with its checksum database.
const (
	toolchainModule = "golang.org/toolchain"
	toolchainPrefix = "v0.0.1-"
	toolchainSuffix = ".linux-" + runtime.GOARCH
)

// goReleases are the releases of Go on the proxies.
var goReleases = &ecosystem.Versions{
	Package: company.Dependency{Ecosystem: ecosystem.Go, Name: toolchainModule}, Choose: chooseRelease,
	Fetch: fetchRelease,
	Dir: func(release string) string {
		return toolchainModule + "@" + toolchainPrefix + release + toolchainSuffix
	},
}

// chooseRelease returns the release for a minimum version: that version itself, or else the newest later release with
// the same language version.
func chooseRelease(wants string, all []string) (release, shown string) {
	wanted := "go" + wants
	for _, v := range all {
		r, ok := strings.CutPrefix(v, toolchainPrefix)
		if !ok || !strings.HasSuffix(r, toolchainSuffix) {
			continue
		}
		switch r = strings.TrimSuffix(r, toolchainSuffix); {
		case !version.IsValid(r):
		case r == wanted:
			return r, r
		case version.Lang(r) == version.Lang(wanted) && version.Compare(r, wanted) > 0 &&
			(release == "" || version.Compare(r, release) > 0):
			release = r
		}
	}
	return release, release
}

// fetchRelease makes this host's go command fetch another release.
func fetchRelease(ctx context.Context, fetchHost ecosystem.FetchHost, release string) error {
	env, err := downloadEnv(ctx, fetchHost, release)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	if _, err = fetchHost.Run(ctx, fetchHost.Places().Home, env, "go", "version"); err != nil {
		return company.E(company.EImage, "cannot fetch "+release).Wrap(err).
			Fix("check `go env GOPROXY GOSUMDB`; or install that version on this host")
	}
	return nil
}

var (
	goLineRE        = lazyregexp.New(`(?m)^\s*go\s+([0-9][0-9A-Za-z.]*)`)
	toolchainLineRE = lazyregexp.New(`(?m)^\s*toolchain\s+go([0-9][0-9A-Za-z.]*)`)
)

// readWish returns the minimum version of a module or workspace if it is newer than has. A toolchain line is only
// what its authors use, so any release of the same language version satisfies it.
func readWish(text, has string) (wants, hasText string) {
	highest := "go" + strings.TrimPrefix(has, "go")
	for _, re := range []*lazyregexp.Regexp{goLineRE, toolchainLineRE} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			wanted := "go" + m[1]
			isNear := re == toolchainLineRE && version.Lang(wanted) == version.Lang(highest)
			if version.IsValid(wanted) && version.Compare(wanted, highest) > 0 && !isNear {
				wants, highest = m[1], wanted
			}
		}
	}
	if wants == "" {
		return "", ""
	}
	return wants, strings.TrimPrefix(has, "go")
}
