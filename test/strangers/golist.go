package strangers

// goTest is the check of nearly every Go module. What only looks closer (-race, -v,
// coverage) is no other check.
func goTest(file, text, note string) Check {
	return Check{File: file, Text: text, Run: "go test ./...", Ours: "go test ./...", Note: note}
}

// golangciCheck is a linter that CI fetches itself.
func golangciCheck(file, text string) Check {
	return Check{Lint: true, File: file, Text: text,
		Note: "golangci-lint is in no file of the repository that says a version"}
}

// Modules are the Go strangers, small and large: with many dependencies, of several
// modules, with cgo, without a go.mod, with a suite that needs a network.
var Modules = []Stranger{
	{
		Name: "shellquote", Version: "v0.0.0-20180428030007-95032a82bc51", Kind: "go, without a go.mod",
		From:   GoModule{Path: "github.com/kballard/go-shellquote", Sum: "h1:Z9n2FFNUXsshfwJMBgNA0RU6/i7WVaAegv3PtuIHPMs="},
		Checks: []Check{{Run: "GO111MODULE=off go test", Ours: "go test", Note: "they name none"}},
	},
	{
		Name: "doublestar", Version: "v4.10.4", Kind: "go", Short: true,
		From:   GoModule{Path: "github.com/bmatcuk/doublestar/v4", Sum: "h1:oTKkRmRuOsKMqFe1AQazd9gGBFNEpOmgKp/xzB97dnA="},
		Checks: []Check{goTest(".github/workflows/test.yml", "go test -race", "")},
	},
	{
		Name: "uuid", Version: "v1.6.0", Kind: "go",
		From:   GoModule{Path: "github.com/google/uuid", Sum: "h1:NIvaJDMOsjHA8n1jAhLSgzrAzy1Hgr+hNrb57e+94F0="},
		Checks: []Check{goTest(".github/workflows/tests.yaml", "go test -v ./...", "")},
	},
	{
		Name: "renameio", Version: "v2.0.2", Kind: "go",
		From: GoModule{Path: "github.com/google/renameio/v2", Sum: "h1:qKZs+tfn+arruZZhQ7TKC/ergJunuJicWS6gLDt/dGw="},
		Checks: []Check{goTest(".github/workflows/main.yml", "go test .", ""),
			golangciCheck(".github/workflows/main.yml", "golangci/golangci-lint-action")},
	},
	{
		Name: "logr", Version: "v1.4.4", Kind: "go",
		From: GoModule{Path: "github.com/go-logr/logr", Sum: "h1:tG4xh9yMsRCAiodLVTxyrkzSZ9+o0L1Kg/+cPVcbP/8="},
		Checks: []Check{goTest(".github/workflows/tests.yaml", "go test -v -race ./...", ""),
			golangciCheck(".github/workflows/lint.yaml", "golangci/golangci-lint-action")},
	},
	{
		Name: "go-cmp", Version: "v0.7.0", Kind: "go",
		From:   GoModule{Path: "github.com/google/go-cmp", Sum: "h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBybVuN8="},
		Checks: []Check{goTest(".github/workflows/test.yml", "go test -v -race ./...", "")},
	},
	{
		Name: "logrus", Version: "v1.10.2", Kind: "go",
		From: GoModule{Path: "github.com/sirupsen/logrus", Sum: "h1:G2SED73/qrAu6YwbdxOD6peLkCBI3z7L+ykJFTXJBBo="},
		Checks: []Check{goTest(".github/workflows/ci.yaml", "go test -race -v ./...", ""),
			golangciCheck(".github/workflows/ci.yaml", "golangci/golangci-lint-action")},
	},
	{
		Name: "yamux", Version: "v0.1.2", Kind: "go, a suite of a minute",
		From: GoModule{Path: "github.com/hashicorp/yamux", Sum: "h1:XtB8kyFOyHXYVFnwT5C3+Bdo8gArse7j2AQ0DA0Uey8="},
		Checks: []Check{
			goTest(".github/workflows/test.yaml", "go test -race ./...", ""),
			{Lint: true, File: ".github/workflows/test.yaml", Text: "go fmt ./...",
				Note: "how files are formatted is no check of ours"},
		},
	},
	{
		Name: "goccy/go-yaml", Version: "v1.19.2", Kind: "go",
		From: GoModule{Path: "github.com/goccy/go-yaml", Sum: "h1:PmFC1S6h8ljIz6gMRBopkjP1TVT7xuwrButHID66PoM="},
		Checks: []Check{
			goTest("Makefile", "go test -v ./...",
				"the folder testdata with a go.mod of its own is another repository's business here: its archive leaves nested "+
					"modules out"),
			golangciCheck("Makefile", "lint: golangci-lint"),
		},
	},
	{
		Name: "viper", Version: "v1.21.0", Kind: "go, many dependencies",
		From: GoModule{Path: "github.com/spf13/viper", Sum: "h1:x5S+0EU27Lbphp4UKm1C+1oQO+rKx36vfCoaVebLFSU="},
		Checks: []Check{goTest(".github/workflows/ci.yaml", "go test -race -v -tags '${{ matrix.tags }}' -shuffle=on ./...",
			"the first of three sets of build tags"),
			golangciCheck(".github/workflows/ci.yaml", "golangci/golangci-lint-action")},
	},
	{
		Name: "jwt", Version: "v2.8.2", Kind: "go",
		From: GoModule{Path: "github.com/nats-io/jwt/v2", Sum: "h1:XXRgB60MSTnqsRwejQurVDs/hcv2dkt+86GjI+I/bMc="},
		Checks: []Check{
			goTest("Makefile", "go test -v -coverprofile=./coverage.out ./...", ""),
			{Lint: true, File: "Makefile", Text: "go vet ./...", Run: "go vet ./...", Ours: "go vet ./..."},
		},
	},
	{
		Name: "zap", Version: "v1.27.0", Kind: "go, two modules",
		From: GoModule{
			Path: "go.uber.org/zap", Sum: "h1:aJMhYGrd5QSmlpLMr2MftRKl7t8J8PTZPA732ud/XR8=",
			More: []GoModule{{Path: "go.uber.org/zap/exp", At: "v0.3.0", Sum: "h1:6JYzdifzYkGmTdRR59oYH+Ng7k49H9qVpWwNSsGJj3U=",
				Dir: "exp"}},
		},
		Checks: []Check{
			{
				File: "Makefile", Text: "(cd $(dir) && go test -race ./...)", Run: "go test ./... && cd exp && go test ./...",
				Ours: "go test ./...",
				Note: "of its four modules the two that are published",
			},
			golangciCheck("Makefile", "golangci-lint run"),
		},
	},
	{
		Name: "go-sqlite3", Version: "v1.14.52", Kind: "go, cgo",
		From: GoModule{Path: "github.com/mattn/go-sqlite3", Sum: "h1:wVbm2Qnf4OXkqhBTSPuCRZDRnxfbVrrmiCEroVdog8U="},
		Checks: []Check{goTest(".github/workflows/go.yaml", `go-acc . -- -race -v -tags ""`,
			"the first of four sets of build tags")},
	},
	{
		Name: "x/mod", Version: "v0.41.0", Kind: "go, tests that need a network",
		From:   GoModule{Path: "golang.org/x/mod", Sum: "h1:qJmnOUb4YB+FsEuM3HcWucdZASCPGhsX6uljO6pog0c="},
		Checks: []Check{{Run: "go test ./...", Ours: "go test ./...", Note: "they name none in the repository"}},
	},
	{
		Name: "sh", Version: "v3.14.1", Kind: "go, large",
		From: GoModule{Path: "mvdan.cc/sh/v3", Sum: "h1:bXkhQWNHCs0KZEChF8hYS6FC+T2N9mUZLbQv9blditI="},
		Checks: []Check{
			goTest(".github/workflows/test.yml", "- run: go test ./...", ""),
			{Lint: true, File: ".github/workflows/test.yml", Text: "go vet ./...", Run: "go vet ./...", Ours: "go vet ./..."},
		},
	},
}

func init() {
	for i := range Modules {
		Modules[i].Outside = Host{
			Prepare: "test ! -f go.mod || go mod download; test ! -f exp/go.mod || (cd exp && go mod download)"}
	}
}
