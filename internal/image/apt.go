package image

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
)

const (
	aptList = "/etc/apt/sources.list.d/company.list" // for the time of set-up
	aptConf = "/etc/apt/apt.conf.d/99company"
)

// aptSuites are those of the base that set-up commands may install from.
var aptSuites = []string{debianSuite, debianSuite + "-updates", debianSuite + "-security", debianSuite + "-backports"}

// aptLink is the link of set-up commands to Debian's packages; the zero value is
// none.
type aptLink struct {
	lines  []string // of a sources.list
	access *registryAccess
}

// linkApt finds the archives that commands can install from, or notes why there are
// none. reach begins the notes: it names the commands. The suites are the base's: packages of another one do not fit.
func (p *layerPlan) linkApt(req Request, base baseSource, reach string) (aptLink, error) {
	what := reach + " no Debian packages: "
	switch {
	case req.Offline:
		p.addNote("%s", what+"container.deps is off")
		return aptLink{}, nil
	case p.b.registryStore(req) == nil:
		p.addNote("%s", what+"no registry is at hand")
		return aptLink{}, nil
	}
	store := p.b.registryStore(req)
	lines := store.Upstreams().SourceLines(ecosystem.Debian, registryURL, debianKeyring, aptSuites...)
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, " "+debianSuite+" ") }) {
		if err := store.Upstreams().WhyWithheld(company.Dependency{Ecosystem: ecosystem.Debian}); err != nil {
			return aptLink{}, err
		}
		p.addNote("%sthe apt sources of this host have no %s", what, debianSuite)
		return aptLink{}, nil
	}
	if base.pulled {
		p.addNote("%s Debian packages only if the image %s is Debian %s", reach, base.ref, debianSuite)
	}
	policy := depproxy.NewPolicy()
	policy.AllowParts(ecosystem.Debian, aptSuites...)
	return aptLink{lines, &registryAccess{store: store, policy: policy}}, nil
}

// setupScript is the part of the script that points apt at the mirror, if the image
// is of our suite and can check its signatures. Proxies that the environment
// names are for hosts outside.
func (a aptLink) setupScript() string {
	if len(a.lines) == 0 {
		return ""
	}
	return `if command -v apt-get >/dev/null && [ -r ` + debianKeyring + ` ] && ( . /etc/os-release && [ "$ID:$VERSION_CODENAME" = debian:` + debianSuite + ` ] ) 2>/dev/null; then
mkdir -p /etc/apt/sources.list.d /etc/apt/apt.conf.d /var/lib/apt/lists/partial /var/cache/apt/archives/partial /var/log/apt
cat >` + aptList + ` <<'END'
` + strings.Join(a.lines, "\n") + `
END
cat >` + aptConf + ` <<'END'
Acquire::http::Proxy::127.0.0.1 "DIRECT";
Acquire::Languages "none";
Acquire::Retries "2";
END
export DEBIAN_FRONTEND=noninteractive
fi
`
}

// cleanupScript is the command that takes away what before and apt left.
func (a aptLink) cleanupScript() string {
	if len(a.lines) == 0 {
		return "true"
	}
	return "rm -rf " + aptList + " " + aptConf + " /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log /var/cache/debconf/*-old"
}
