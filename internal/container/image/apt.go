package image

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
)

const (
	aptList = "/etc/apt/sources.list.d/company.list" // exists only during set-up
	aptConf = "/etc/apt/apt.conf.d/99company"
)

// aptSuites lists the suites of the base from which set-up commands may install packages.
var aptSuites = []string{debianSuite, debianSuite + "-updates", debianSuite + "-security", debianSuite + "-backports"}

// aptLink gives set-up commands access to Debian packages. The zero value gives no access.
type aptLink struct {
	lines  []string // lines of a sources.list
	access *registryAccess
}

// linkApt finds the archives from which commands can install packages, or notes why there are none.
// reach is the start of the notes and names the commands. Only suites of the base are used, because
// packages of other suites do not fit.
func (p *layerPlan) linkApt(req Request, base baseSource, reach string) (aptLink, error) {
	what := reach + " no Debian packages: "
	switch {
	case req.Offline:
		p.addNote("%s", what+"container.deps is off")
		return aptLink{}, nil
	case p.b.registryStore(req) == nil:
		p.addNote("%s", what+"no registry is available")
		return aptLink{}, nil
	}
	store := p.b.registryStore(req)
	lines := store.Upstreams().SourceLines(ecosystem.Debian, MirrorURL, debianKeyring, aptSuites...)
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

// setupScript returns the part of the script that configures apt to use our mirror. It takes effect if
// the image has our suite and can check the signatures. Proxies in the environment are only for
// outside hosts.
func (a aptLink) setupScript() string {
	if len(a.lines) == 0 {
		return ""
	}
	return `if command -v apt-get >/dev/null && [ -r ` + debianKeyring +
		` ] && ( . /etc/os-release && [ "$ID:$VERSION_CODENAME" = debian:` + debianSuite + ` ] ) 2>/dev/null; then
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

// cleanupScript returns the command that removes the files of setupScript and apt.
func (a aptLink) cleanupScript() string {
	if len(a.lines) == 0 {
		return "true"
	}
	return "rm -rf " + aptList + " " + aptConf +
		" /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log /var/cache/debconf/*-old"
}
