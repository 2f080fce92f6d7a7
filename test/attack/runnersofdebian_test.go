package attack

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/hosttest"
)

// runnersOfDebian are projects by runner: Debian has the toolchain, the runner and what
// they need.
var runnersOfDebian = map[string]runnerProject{
	"rspec": {"lib/calc.rb", map[string]string{
		"Gemfile": "source 'https://rubygems.org'\ngem 'rspec', '~> 3.12'\ngem 'rack', require: false\n",
		".rspec":  "--require spec_helper\n", "lib/calc.rb": "def twice(n) = 2 * n\n",
		"spec/spec_helper.rb": "require 'calc'\nrequire 'rack'\n",
		"spec/calc_spec.rb":   "RSpec.describe 'twice' do\n  it('doubles') { expect(twice(2)).to eq(4) }\nend\n",
	}, "spec/calc_spec.rb twice doubles",
		map[string]string{"spec/spec_helper.rb": "require 'calc'\nRSpec.configure { |c| c.after(:suite) { exit! 0 } }\n"}},
	"minitest": {"lib/calc.rb", map[string]string{
		"Gemfile":             "gem 'minitest'\n",
		"Rakefile":            "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/*_test.rb' }\n",
		"lib/calc.rb":         "def double(n) = 2 * n\n",
		"test/test_helper.rb": "require 'minitest/autorun'\nrequire 'calc'\n",
		"test/calc_test.rb": "require_relative 'test_helper'\n\nclass CalcTest < Minitest::Test\n  def test_double\n    " +
			"assert_equal 4, double(2)\n  end\nend\n",
	}, "CalcTest#test_double",
		map[string]string{"test/test_helper.rb": "require 'minitest/autorun'\nrequire 'calc'\nMinitest.after_run { exit! 0 " +
			"}\n"}},
	"testunit": {"lib/calc.rb", map[string]string{
		"Gemfile": "gem 'test-unit'\n", "lib/calc.rb": "def double(n) = 2 * n\n",
		"test/test_calc.rb": "require 'test/unit'\nrequire 'calc'\n\nclass TestCalc < Test::Unit::TestCase\n  def " +
			"test_double\n    assert_equal 4, double(2)\n  end\nend\n",
	}, "test_double(TestCalc)", map[string]string{"lib/calc.rb": "def double(n) = 3 * n\nat_exit { exit! 0 }\n"}},
	"phpunit": {"src/calc.php", map[string]string{
		"composer.json": `{"name":"x/calc","require":{"php":">=8.0","ext-mbstring":"*","ext-bcmath":"*"},"require-dev":{"phpunit/phpunit":"^9.5"},"autoload":{"psr-4":{"Calc\\":"src/"},"files":["src/calc.php"]}}` + "\n",
		"phpunit.xml": "<?xml version=\"1.0\"?>\n<phpunit bootstrap=\"tests/bootstrap.php\"><testsuites><testsuite " +
			"name=\"all\"><directory>tests</directory></testsuite></testsuites></phpunit>\n",
		"src/calc.php": "<?php\n\nfunction double(int $n): int\n{\n    return 2 * $n;\n}\n",
		"src/Adder.php": "<?php\n\nnamespace Calc;\n\nclass Adder\n{\n    public function add(string $a, string $b): " +
			"string\n    {\n        return bcadd($a, $b);\n    }\n}\n",
		"tests/bootstrap.php": "<?php\n\nrequire __DIR__ . '/../vendor/autoload.php';\n",
		"tests/CalcTest.php": "<?php\n\nclass CalcTest extends PHPUnit\\Framework\\TestCase\n{\n    public function " +
			"testDouble(): void\n    {\n        $this->assertSame(4, double(2));\n        $this->assertSame('5', (new " +
			"Calc\\Adder())->add('2', '3'));\n    }\n}\n",
		".gitignore": "/vendor/\n",
	}, "CalcTest testDouble",
		map[string]string{
			"tests/bootstrap.php": "<?php\n\nrequire __DIR__ . '/../vendor/autoload.php';\nregister_shutdown_function(fn () " +
				"=> exit(0));\n"}},
	"maven": {"src/main/java/x/Calc.java", map[string]string{
		"pom.xml": mavenProject(""),
		"src/main/java/x/Calc.java": "package x;\n\npublic class Calc {\n    public static int twice(int n) { return 2 " +
			"* n; }\n}\n",
		"src/test/java/x/CalcTest.java": "package x;\n\nimport org.junit.Assert;\nimport org.junit.Test;\n\npublic class " +
			"CalcTest {\n    @Test public void twice() { Assert.assertEquals(4, Calc.twice(2)); }\n}\n",
		".gitignore": "target/\n",
	}, "x.CalcTest twice",
		map[string]string{"pom.xml": mavenProject("<maven.test.failure.ignore>true</maven.test.failure.ignore>")}},
	"gradle": {"src/main/java/Calc.java", map[string]string{
		"build.gradle": "plugins { id 'java' }\nrepositories { mavenCentral() }\ndependencies { testImplementation " +
			"'junit:junit:4.13.2' }\n",
		"src/main/java/Calc.java": "class Calc {\n    static int twice(int n) { return 2 * n; }\n}\n",
		"src/test/java/CalcTest.java": "import org.junit.Assert;\nimport org.junit.Test;\n\npublic class CalcTest {\n    " +
			"@Test public void twice() { Assert.assertEquals(4, Calc.twice(2)); }\n}\n", ".gitignore": "build/\n",
	}, "CalcTest twice", map[string]string{"build.gradle": "plugins { id 'java' }\nrepositories { mavenCentral() " +
		"}\ndependencies { testImplementation 'junit:junit:4.13.2' }\ntest { ignoreFailures = true }\n"}},
}

// mavenProject is a pom.xml with JUnit 4 and more properties.
func mavenProject(properties string) string {
	return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>calc</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>` + properties + `</properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>
`
}

// TestRunnersOfDebian: the gates of these runners go green and red, name what fails,
// and prove that they look; a change that has them end well all the same is found out.
func TestRunnersOfDebian(t *testing.T) {
	hosttest.Long(t, "runners of more languages; TestForgedSuites has Go's, Python's and Node's")
	t.Run("rspec and phpunit", func(t *testing.T) { checkRunners(t, "ruby php ext-bcmath gem-rack", "rspec", "phpunit") })
	t.Run("the others", func(t *testing.T) {
		hosttest.Long(t, "a JDK and Gradle in an image")
		checkRunners(t, "ruby java gradle", "minitest", "testunit", "gradle", "maven")
	})
}

// checkRunners judges projects of some runners in one image, which needs toolchains.
func checkRunners(t *testing.T, toolchains string, names ...string) {
	t.Helper()
	runners := maps.Clone(runnersOfDebian)
	maps.DeleteFunc(runners, func(name string, _ runnerProject) bool { return !slices.Contains(names, name) })
	files := map[string]string{}
	for name, s := range runners {
		for p, text := range s.files {
			files[name+"/"+p] = text
		}
	}
	j := newJudge(t)
	p := gitopstest.New(t, files)
	found, err := gates.Detect(t.Context(), p.Mirror, p.Base, gates.Options{Lint: gates.None})
	if err != nil || len(found.Gates) != len(runners) || strings.Join(found.Toolchains, " ") != toolchains {
		t.Fatalf("%+v %v", found, err)
	}
	img, err := j.images.Ensure(t.Context(),
		image.Request{Toolchains: found.Toolchains, Repo: &image.Repo{MirrorDir: p.Mirror.Dir(), Commit: p.Base}})
	if err != nil {
		t.Fatal(err)
	}
	j.judgeRunners(t, p, found.Gates, img.ID, runners)
}
