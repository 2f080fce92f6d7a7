package java

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"pom.xml": "<project><modules><module>sub</module></modules></project>",
			"src/main/java/A.java": "", "src/test/java/ATest.java": "", "sub/pom.xml": "<project/>",
			"sub/src/test/java/x/TestB.java": ""},
		Test: "mvn -o -B -Dmaven.repo.local=/usr/share/maven-repo test",
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"src/main/java/A.java": "1"}, Dirs: []string{""}},
			{Change: map[string]string{"sub/src/main/java/B.java": "1"}, Dirs: []string{"sub"}},
			{Change: map[string]string{"pom.xml": "<project><modules><module>sub</module></modules> </project>"},
				Dirs: []string{"", "sub"}}},
		GateFiles: []string{"pom.xml", ".mvn/maven.config", "build.gradle"},
	})
}
