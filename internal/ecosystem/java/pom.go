package java

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// pom holds the fields of a pom.xml that are used.
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

// readPOM reads a project's dependencies. It returns an empty pom for an invalid file, because Maven reports the
// error.
func readPOM(t *ecosystem.Tree, dir string) (p pom) {
	if xml.Unmarshal([]byte(t.ReadManifest(dir, pomFile)), &p) != nil {
		return pom{}
	}
	return p
}

// wantedArtifacts returns the libraries in the manifests in and below a folder, sorted and without duplicates.
func wantedArtifacts(tree *ecosystem.Tree, dir string) (out []string) {
	for _, below := range tree.FoldersWith(pomFile) {
		if !ecosystem.IsUnder(below, dir) {
			continue
		}
		p := readPOM(tree, below)
		for _, a := range slices.Concat(p.Dependencies, p.Managed) {
			if name := a.fullName(); artifactRE.MatchString(name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// notePackages adds a note about packages that may be missing, unless the project has its own repository.
func notePackages(tree *ecosystem.Tree, dir string) {
	if hasOwnRepository(tree, dir) {
		return
	}
	var unknown []string
	built := builtArtifacts(tree)
	for _, name := range wantedArtifacts(tree, dir) {
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
	tree.AddNote("%s asks for packages that Debian's Maven repository may not have (%s): `mvn dependency:go-offline "+
		"-Dmaven.repo.local=%s` puts them into the repository, where they are found", path.Join(dir, pomFile), names,
		ownRepository)
}

// builtArtifacts returns the ids of artifacts that the tree itself builds. It finds those whose folder has the same
// name.
func builtArtifacts(tree *ecosystem.Tree) map[string]bool {
	built := map[string]bool{}
	for _, dir := range tree.FoldersWith(pomFile) {
		if id := path.Base(dir); !built[id] {
			built[id] = strings.Contains(tree.ReadManifest(dir, pomFile), "<artifactId>"+id+"</artifactId>")
		}
	}
	return built
}
