package container

import (
	"fmt"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// The label keys. A container that lacks one of them is not ours.
const (
	LabelOffice = "company.office"
	LabelRun    = "company.run"
	LabelEpoch  = "company.epoch"
	LabelRole   = "company.role"
)

// LabelImage is on every image of ours, and alone on the container of a build,
// which belongs to no office: images are shared.
const LabelImage = "company.image"

// LabelHosts is on an image with services: names of hosts, with spaces between them,
// that stand for 127.0.0.1 in its containers.
const LabelHosts = "company.image.hosts"

// MaxHosts bounds the names of one image. Further ones are left out.
const MaxHosts = 16

// hostRE is a name of one part: no name of a public host is one.
var hostRE = lazyregexp.New(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`)

// IsServiceHost says whether a name may stand for 127.0.0.1 in a container: it has one
// part and a letter, and is none that the container has already.
func IsServiceHost(name string) bool {
	return hostRE.MatchString(name) && strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") && name != "localhost" && name != "company"
}

// ParseHosts reads LabelHosts. Other names than those for services are left out.
func ParseHosts(label string) (out []string) {
	for _, name := range strings.Fields(label) {
		if IsServiceHost(name) && len(out) < MaxHosts {
			out = append(out, name)
		}
	}
	return out
}

// BuildLabels stand for the label of a build's container.
var BuildLabels = Labels{Role: "build"}

// Labels say whose a container is. All four are needed, and all four must
// match before a container is removed.
type Labels struct {
	Office string // the office's id
	Run    string // run id, or pool-<n> for a container that waits for a run
	Epoch  uint64 // the office's epoch at its start
	Role   string // worker, reviewer, merger, gate, …
}

var labelRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

// Validate is an EInvalid error for labels that could not tell a container of
// ours from a foreign one.
func (l Labels) Validate() error {
	if l == BuildLabels {
		return nil
	}
	for _, f := range [...]struct{ key, value string }{
		{LabelOffice, l.Office}, {LabelRun, l.Run}, {LabelRole, l.Role},
	} {
		if !labelRE.MatchString(f.value) {
			return company.E(company.EInvalid, fmt.Sprintf("%q is no value for the container label %s", f.value, f.key)).
				Fix("1 to 63 letters, digits, dots, dashes and underscores")
		}
	}
	return nil
}

// Map is the form the daemon keeps.
func (l Labels) Map() map[string]string {
	if l == BuildLabels {
		return map[string]string{LabelImage: l.Role}
	}
	return map[string]string{
		LabelOffice: l.Office,
		LabelRun:    l.Run,
		LabelEpoch:  strconv.FormatUint(l.Epoch, 10),
		LabelRole:   l.Role,
	}
}

// ParseLabels reads our labels back: all four, or a build's without any of
// them. ok is false when one of the four is missing or malformed: such a
// container is foreign and must not be touched.
func ParseLabels(m map[string]string) (l Labels, ok bool) {
	if m[LabelImage] == BuildLabels.Role && m[LabelOffice]+m[LabelRun]+m[LabelEpoch]+m[LabelRole] == "" {
		return BuildLabels, true
	}
	epoch, err := strconv.ParseUint(m[LabelEpoch], 10, 64)
	l = Labels{Office: m[LabelOffice], Run: m[LabelRun], Epoch: epoch, Role: m[LabelRole]}
	// The round trip refuses spellings that Map would not write ("007").
	if err != nil || l.Validate() != nil || l.Map()[LabelEpoch] != m[LabelEpoch] {
		return Labels{}, false
	}
	return l, true
}

// Name is the deterministic name of the container with these labels:
// company-<office>-<run>-<epoch>, then the suffixes. A second container under
// the same name is refused by the daemon, which is what makes starting one an
// effect that can be repeated safely.
func (l Labels) Name(suffix ...string) string {
	parts := append([]string{"company", l.Office, l.Run, strconv.FormatUint(l.Epoch, 10)}, suffix...)
	return strings.Join(parts, "-")
}
