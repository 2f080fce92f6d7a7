package java

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// pom is what counts of a pom.xml.
type pom struct {
	Dependencies []artifact `xml:"dependencies>dependency"`
	Managed      []artifact `xml:"dependencyManagement>dependencies>dependency"`
	Plugins      []artifact `xml:"build>plugins>plugin"`
}

type artifact struct {
	Group string `xml:"groupId"`
	Name  string `xml:"artifactId"`
}

func (a artifact) fullName() string {
	return strings.TrimSpace(a.Group) + ":" + strings.TrimSpace(a.Name)
}

// readPOM reads what a project asks for; what cannot be read asks for nothing, and
// Maven reports its fault.
func readPOM(t *ecosystem.Tree, dir string) (p pom) {
	if xml.Unmarshal([]byte(t.ReadManifest(dir, pomFile)), &p) != nil {
		return pom{}
	}
	return p
}

// wantedArtifacts are the libraries that the manifests in and below a folder name,
// sorted, each once.
func wantedArtifacts(t *ecosystem.Tree, dir string) (out []string) {
	for _, below := range t.FoldersWith(pomFile) {
		if !ecosystem.IsUnder(below, dir) {
			continue
		}
		p := readPOM(t, below)
		for _, a := range slices.Concat(p.Dependencies, p.Managed) {
			if name := a.fullName(); artifactRE.MatchString(name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// notePackages tells where the packages of a project come from, where it does not
// have them along.
func notePackages(t *ecosystem.Tree, dir string) {
	if hasOwnRepository(t, dir) {
		return
	}
	var unknown []string
	built := builtArtifacts(t)
	for _, name := range wantedArtifacts(t, dir) {
		if _, artifact, _ := strings.Cut(name, ":"); debianPackage(name) == "" && !built[artifact] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return
	}
	const most = 6
	names := strings.Join(unknown[:min(len(unknown), most)], ", ")
	if len(unknown) > most {
		names += ", …"
	}
	t.AddNote("%s asks for packages that Debian's Maven repository may not have (%s): `mvn dependency:go-offline -Dmaven.repo.local=%s` puts them into the repository, where they are found", path.Join(dir, pomFile), names, ownRepository)
}

// builtArtifacts returns the ids of the artifacts that are built in the tree itself: those of the
// folders that are named like them.
func builtArtifacts(t *ecosystem.Tree) map[string]bool {
	built := map[string]bool{}
	for _, dir := range t.FoldersWith(pomFile) {
		if id := path.Base(dir); !built[id] {
			built[id] = strings.Contains(t.ReadManifest(dir, pomFile), "<artifactId>"+id+"</artifactId>")
		}
	}
	return built
}
