package image

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/registry"
)

const (
	aptList = "/etc/apt/sources.list.d/company.list" // for the time of set-up
	aptConf = "/etc/apt/apt.conf.d/99company"
)

// aptSuites are those of the base that set-up commands may install from.
var aptSuites = []string{debianSuite, debianSuite + "-updates", debianSuite + "-security", debianSuite + "-backports"}

// apt is the link of set-up commands to Debian's packages; the zero value is
// none.
type apt struct {
	lines []string // of a sources.list
	fetch *fetching
}

// apt finds out what set-up commands can install from, and notes why nothing.
// The suites are the base's: packages of another one do not fit.
func (p *plan) apt(req Request, base baseSource) (apt, error) {
	const what = "set-up commands reach no Debian packages: "
	switch {
	case req.Offline:
		p.note(what + "container.deps is off")
		return apt{}, nil
	case p.b.store(req) == nil:
		p.note(what + "no registry is at hand")
		return apt{}, nil
	}
	store := p.b.store(req)
	lines := store.Upstreams().AptSources(registryURL, debianKeyring, aptSuites...)
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, " "+debianSuite+" ") }) {
		if err := store.Upstreams().Withheld(company.Dependency{Ecosystem: registry.Debian}); err != nil {
			return apt{}, err
		}
		p.note(what+"the apt sources of this host have no %s", debianSuite)
		return apt{}, nil
	}
	if base.pulled {
		p.note("set-up commands reach Debian packages only if %s is Debian %s", base.ref, debianSuite)
	}
	policy := registry.Nothing()
	policy.AllowSuites(aptSuites...)
	return apt{lines, &fetching{store: store, policy: policy}}, nil
}

// before is the part of the script that points apt at the mirror, if the image
// is of our suite and can check its signatures. Proxies that the environment
// names are for hosts outside.
func (a apt) before() string {
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

// after is the command that takes away what before and apt left.
func (a apt) after() string {
	if len(a.lines) == 0 {
		return "true"
	}
	return "rm -rf " + aptList + " " + aptConf + " /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log /var/cache/debconf/*-old"
}
