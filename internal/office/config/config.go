package config

import (
	"time"

	"company/internal/company"
)

// Config is the complete config: values that no source sets have their default. It is loaded once and never changed.
// Do not write into its lists and maps.
//
// The tags are the schema. yaml is the key, enum the allowed values, min and max the bounds. drivers is a kind of
// drivers, whose names are allowed as well. doc is the one-line description for people and the JSON Schema. check names
// a further check of a text.
type Config struct {
	Version       int              `yaml:"version" min:"1" max:"1" doc:"version of this file's format"`
	Models        map[string]Model `yaml:"models" doc:"named model profiles"`
	Agents        Agents           `yaml:"agents" doc:"what each role uses"`
	Workers       Workers          `yaml:"workers" doc:"the pool and the limits of one worker"`
	Container     Container        `yaml:"container" doc:"what a worker's container is made of"`
	Deps          Deps             `yaml:"deps" doc:"what packages may do"`
	Bus           Bus              `yaml:"bus" doc:"where messages and the ledger live"`
	Git           Git              `yaml:"git" doc:"branches, remote and credentials"`
	Forge         Forge            `yaml:"forge" doc:"where pull requests are opened"`
	Gates         Gates            `yaml:"gates" doc:"what must pass before anything is merged"`
	Budget        Budget           `yaml:"budget" doc:"caps of one task, of a day, and of the office"`
	Approvals     Approvals        `yaml:"approvals" doc:"what the president is asked"`
	Limits        Limits           `yaml:"limits" doc:"patience and concurrency"`
	Plan          PlanLimits       `yaml:"plan" doc:"how large and how small the subtasks of a plan may be"`
	Review        Review           `yaml:"review" doc:"what becomes of the findings of a review"`
	Serve         Serve            `yaml:"serve" doc:"where company serve answers browsers and programs"`
	Notify        Notify           `yaml:"notify" doc:"how you are told that something needs you, away from the screens"`
	Log           Log              `yaml:"log" doc:"company.log in the office's folder"`
	Paths         ReadablePaths    `yaml:"paths" doc:"where the readable files lie, beside .company/; only in the office's own company.yaml"`
	Recovery      string           `yaml:"recovery" enum:"auto ask" doc:"whether unfinished tasks go on by themselves when a company opens the office; ask: they are paused until company resume"`
	RetentionDays int              `yaml:"retention_days" min:"0" max:"3650" doc:"days that the files, journals and repositories of finished runs are kept"`
}

// Model is a model profile. A profile replaces the profile of the same name in a lower source as a whole, so that an
// API key is never sent to another profile's URL.
type Model struct {
	Adapter       string   `yaml:"adapter" drivers:"adapter" doc:"wire protocol"`
	Model         string   `yaml:"model" doc:"the model's name, as its server calls it"`
	BaseURL       string   `yaml:"base_url" check:"http_url" unset:"the adapter's own service" doc:"the API's address; not set: the adapter's own"`
	APIKeyEnv     string   `yaml:"api_key_env" check:"env_name" unset:"the usual variable of the adapter's own service" doc:"environment variable that holds the key"`
	Fallback      []string `yaml:"fallback" doc:"profiles to use, in this order, when this one fails"`
	ContextTokens int      `yaml:"context_tokens" min:"0" max:"100000000" doc:"size of the context; 0 for unknown"`
	MaxOutput     int      `yaml:"max_output" min:"0" max:"10000000" doc:"tokens of one reply; 0 for the adapter's default"`
	Price         *Price   `yaml:"price" doc:"price, where it is known"`
	Script        string   `yaml:"script" doc:"file of the scripted adapter, relative to the office"`
	Temperature   *float64 `yaml:"temperature" min:"0" max:"2" doc:"sampling temperature; the server's default when absent"`
	Tools         string   `yaml:"tools" enum:"auto yes no" doc:"whether tools go over the wire (yes) or in text (no); auto: as its server says"`
	Images        string   `yaml:"images" enum:"auto yes no" doc:"whether the model takes images, which come with an instruction; auto: as its server says, else by its name"`
}

// Price of a million tokens.
type Price struct {
	Input  USD `yaml:"input" doc:"USD per million input tokens"`
	Output USD `yaml:"output" doc:"USD per million output tokens"`
	Cached USD `yaml:"cached" doc:"USD per million cached input tokens"`
	Write  USD `yaml:"cache_write" doc:"USD per million input tokens that are written to a cache; 0: as input"`
}

// Agents has one entry per role.
type Agents struct {
	Manager  Agent       `yaml:"manager" doc:"plans"`
	Worker   WorkerAgent `yaml:"worker" doc:"does subtasks"`
	Reviewer Agent       `yaml:"reviewer" doc:"reviews"`
	Merger   Agent       `yaml:"merger" doc:"resolves conflicts"`

	SecondReviewer Agent `yaml:"second_reviewer" doc:"is asked where the reviewer approves without evidence, and by review.confirm; without a model the president decides"`
}

// Agent is the config of a role.
type Agent struct {
	Model    string `yaml:"model" doc:"profile; not set: strong where there is one, else default; of the second reviewer: none"`
	MaxTurns int    `yaml:"max_turns" min:"1" max:"1000" doc:"model replies per run"`
	Persona  string `yaml:"persona" doc:"text added to the role's instructions"`
}

// WorkerAgent is the config of the worker role, with the profiles that a stuck worker may get.
type WorkerAgent struct {
	Model      string   `yaml:"model" doc:"profile; not set: default"`
	MaxTurns   int      `yaml:"max_turns" min:"1" max:"1000" doc:"model replies per run"`
	Persona    string   `yaml:"persona" doc:"text added to the role's instructions"`
	EscalateTo []string `yaml:"escalate_to" doc:"profiles of which the manager may give one to a subtask that is stuck; none: its worker keeps its model"`
}

// Agent returns the agent config of a worker, until the manager gives it another model.
func (w WorkerAgent) Agent() Agent { return Agent{w.Model, w.MaxTurns, w.Persona} }

// Workers sets the size of the pool and the limits of one worker.
type Workers struct {
	Max            int           `yaml:"max" min:"1" max:"64" doc:"workers at a time; by default 3, or less where memory is short"`
	CommandTimeout time.Duration `yaml:"command_timeout" min:"1s" max:"15m" doc:"one command in a container"`
	RunTimeout     time.Duration `yaml:"run_timeout" min:"10s" max:"168h" doc:"one run, waits for models apart"`
	Memory         Size          `yaml:"memory" min:"64m" max:"64t" doc:"of one container"`
	CPUs           float64       `yaml:"cpus" min:"0.1" max:"1024" doc:"of one container; no more than the host has"`
	PIDs           int           `yaml:"pids" min:"32" max:"1000000" doc:"processes of one container"`
	Disk           AutoSize      `yaml:"disk" min:"64m" max:"64t" doc:"work space of one container; auto: 10g, or 2g of memory"`
	Warm           int           `yaml:"warm" min:"0" max:"64" doc:"containers kept ready for each image of the tasks at work, as far as they have runs to come"`
}

// Container describes the container of a worker.
type Container struct {
	Image string `yaml:"image" check:"image" doc:"auto, or name@sha256:digest"`
	// Dockerfile is read from the commit that a task starts from.
	Dockerfile string   `yaml:"dockerfile" check:"repo_file" doc:"the repository's own description of its image, in place of image: a Dockerfile, or a devcontainer.json"`
	Setup      []string `yaml:"setup" check:"command" doc:"commands that prepare the image, as root; apt-get install works"`
	SetupEnv   []string `yaml:"setup_env" check:"env_name" doc:"variables that the preparation, and nothing else, gets"`
	Deps       string   `yaml:"deps" enum:"locked off" doc:"dependency mirrors"`
	Logins     []string `yaml:"logins" check:"registry" doc:"hosts of package registries whose login serves every repository; others serve those of company trust --logins"`
	// DockerHost belongs in a person's own file: a repository must not choose the daemon.
	DockerHost     string        `yaml:"docker_host" check:"docker_host" doc:"address of the Docker daemon where DOCKER_HOST is not set; empty: that of the Docker context, else its usual socket; not in a file that git tracks"`
	KeepImages     int           `yaml:"keep_images" min:"1" max:"1000" doc:"worker images of a project that stay for tasks to come, the newest by their last use; each has the history of one base commit. Those of open tasks stay besides, and one that was removed is made again when a task needs it"`
	CleanupTimeout time.Duration `yaml:"cleanup_timeout" min:"5s" max:"10m" doc:"how long the removal of a container may take once its run has ended"`
}

// Deps sets which install scripts may run and which registries are not asked.
type Deps struct {
	Scripts []string `yaml:"scripts" check:"package" doc:"packages whose install scripts may run, in a container without a network, so that native modules are built"`
	Without []string `yaml:"without" check:"package_registry" doc:"registries that are not asked for packages: go, npm, pypi, crates, packagist. For a registry that is away: what needs its packages stays red. Debian's packages stand for those of pypi, in Debian's versions"`
}

// Bus sets the storage of messages and the ledger.
type Bus struct {
	Driver string `yaml:"driver" drivers:"bus" doc:"keeper of the ledger, the journals and the queue: nats is an embedded server, file one log of plain files; an office keeps the one that it was made with, or is converted by company bus convert"`
}

// Git configures branches and credentials.
type Git struct {
	Base              string `yaml:"base" check:"branch" doc:"auto, or the branch to start from"`
	IntegrationBranch string `yaml:"integration_branch" check:"target" doc:"prefix of the branches that collect the work"`
	Remote            string `yaml:"remote" check:"remote" doc:"name of the remote"`
	Credential        string `yaml:"credential" enum:"deploy_key token ssh_agent" doc:"how the remote is reached"`
	DeployKeyFile     string `yaml:"deploy_key_file" check:"file" doc:"private key of credential: deploy_key"`
	// Only the president may allow the use of their own logins: see requireOwnLayer.
	UseMyLogins bool     `yaml:"use_my_logins" doc:"let git log in at the remote as yours does, where there is no token: credential helpers, ~/.netrc and ~/.ssh, with http.*, insteadOf and core.sshCommand of your git configuration; true counts in your own config file, the variable or --set, never in a company.yaml"`
	Paths       []string `yaml:"paths" check:"folder" doc:"folders of a large repository that the work is kept to; none: all of it"`
	History     string   `yaml:"history" enum:"squash keep" doc:"the commits of a pull request: squash has one for each ticket, in the style of the repository's log; keep has each commit of the workers, and a merge commit for each ticket"`
	Author      string   `yaml:"author" check:"author" doc:"Name <mail> of all commits, of workers and of the host; empty: company <company@localhost>"`
	Signoff     bool     `yaml:"signoff" doc:"add Signed-off-by to every commit"`
	Sign        string   `yaml:"sign" enum:"none ssh gpg" doc:"sign what the host commits (merges); a worker has no key, so its commits are not signed"`
	SigningKey  string   `yaml:"signing_key" doc:"path of an ssh key (its public half, when an agent has it), or the id of a gpg key"`
}

// Forge configures the forge where pull requests are opened.
type Forge struct {
	Kind     string `yaml:"kind" enum:"auto local" drivers:"forge" doc:"kind of forge"`
	URL      string `yaml:"url" check:"http_url" unset:"the kind's own service" doc:"address of the forge; not set: the kind's own"`
	TokenEnv string `yaml:"token_env" check:"env_name" unset:"the usual variables of the kind's own tools" doc:"environment variable that holds the token"`
	// Poll applies to company serve. Other commands ask on demand.
	Poll time.Duration `yaml:"poll" min:"5s" max:"24h" doc:"how often company serve asks what became of the open pull requests"`
	// A GitHub App is used for login instead of a token if its id is set.
	AppID          int      `yaml:"app_id" min:"0" max:"2147483647" doc:"id of the GitHub App to log in as; 0 for a token"`
	InstallationID int      `yaml:"installation_id" min:"0" max:"2147483647" doc:"id of the App's installation; 0 looks it up"`
	PrivateKeyEnv  string   `yaml:"private_key_env" check:"env_name" doc:"environment variable that holds the App's private key, or the path of its file"`
	Labels         []string `yaml:"labels" check:"label" doc:"labels of each pull request; those that are missing are added"`
	Draft          string   `yaml:"draft" enum:"auto always never" doc:"whether pull requests open as drafts; auto: where nothing tested them"`
	Reviewers      string   `yaml:"reviewers" enum:"codeowners none" doc:"whose reviews are asked for"`
	WebhookEnv     string   `yaml:"webhook_secret_env" check:"env_name" doc:"environment variable that holds the secret of the forge's webhook"`
	WebhookListen  string   `yaml:"webhook_listen" check:"listen" doc:"address on which company serve takes the forge's webhooks, such as 127.0.0.1:8378; empty: none"`
}

// Notify configures how the president is notified of questions.
type Notify struct {
	By         []string `yaml:"by" check:"notify_way" doc:"ways by which you hear of questions, failures and pull requests, at most once a minute: bell, desktop, webhook; none: you look yourself"`
	WebhookURL string   `yaml:"webhook_url" check:"http_url" doc:"address to which webhook posts a message as JSON; https, or http on this machine"`
	WebhookEnv string   `yaml:"webhook_secret_env" check:"env_name" doc:"environment variable that holds the secret with which the posts are signed"`
}

// Gates configures the checks that must pass.
type Gates struct {
	Lint           Command       `yaml:"lint" doc:"auto, none, or a command"`
	Types          Command       `yaml:"types" doc:"auto, none, or a command: what a compiler says of the types"`
	Build          Command       `yaml:"build" doc:"auto, none, or a command: that the project builds"`
	Test           Command       `yaml:"test" doc:"auto, none, or a command"`
	Generate       []string      `yaml:"generate" check:"generate" doc:"generated files and the command that makes them, run in the root of the repository: where two tickets conflict in such a file it is made anew at the merge, in a container as a check's; of Go, files with Code generated … DO NOT EDIT need no entry where a go:generate line makes them"`
	Services       []string      `yaml:"services" check:"service" doc:"servers that run beside checks and workers, fresh in each container: postgres, redis, mysql, rabbitmq, memcached, mosquitto; auto: those that the CI of the repository runs, and others for which a check of the base looks in vain; []: none"`
	None           string        `yaml:"none" enum:"ask allow fail" doc:"what to do where there are no gates"`
	RedGreen       string        `yaml:"red_green" enum:"off report require" doc:"tests of a change are run without it; require: a ticket that changes source which the tests cover needs one that fails or does not compile there, or your leave"`
	Canary         bool          `yaml:"canary" doc:"whether tests have to show that they look at what a change touches: a test that must fail is put beside it"`
	FirstStepAfter time.Duration `yaml:"first_step_after" min:"0s" max:"24h" doc:"where tests of the base take longer, those of a ticket are run in two steps: before its review what its change can reach, on the merged tree all (go test, cargo test of a workspace, jest, vitest); 0s: always all"`
	ProtectTests   bool          `yaml:"protect_tests" doc:"whether changing or deleting a test that is there needs the president; new tests are free"`
	Protected      []string      `yaml:"protected" check:"glob" doc:"paths that need the president to change"`
}

// Budget holds the caps of one task and of the office.
type Budget struct {
	USD    USDCap   `yaml:"usd" doc:"USD, or none"`
	Tokens TokenCap `yaml:"tokens" doc:"tokens, none, or auto: 5,000,000 where no price is known"`

	DayUSD       USDCap     `yaml:"day_usd" doc:"USD that all tasks of the office together may cost on one day, or none"`
	DayTokens    TokenLimit `yaml:"day_tokens" doc:"tokens of all tasks together on one day, or none"`
	OfficeUSD    USDCap     `yaml:"office_usd" doc:"USD that the office may ever cost, or none"`
	OfficeTokens TokenLimit `yaml:"office_tokens" doc:"tokens that the office may ever use, or none"`
}

// Approvals sets which decisions need the president's approval.
type Approvals struct {
	Plan  string `yaml:"plan" enum:"auto ask" doc:"the plan"`
	Merge string `yaml:"merge" enum:"auto ask" doc:"each merge"`
	PR    string `yaml:"pr" enum:"auto ask" doc:"the pull request"`
	Deps  string `yaml:"deps" enum:"auto ask" doc:"new dependencies"`
}

// Limits holds retry limits, timeouts and concurrency limits.
type Limits struct {
	Continuations   int           `yaml:"continuations" min:"0" max:"100" doc:"further runs after one that ran out of turns, before the manager is asked"`
	RunRetries      int           `yaml:"run_retries" min:"1" max:"20" doc:"further runs of a ticket after broken ones, before the manager is asked"`
	GateRetries     int           `yaml:"gate_retries" min:"1" max:"20" doc:"further runs of a ticket after red gates, before the manager is asked"`
	ReviewRounds    int           `yaml:"review_rounds" min:"1" max:"20" doc:"further runs of a ticket after a review that asks for changes, before the manager is asked; repairs of the merged whole, before you are"`
	Conflicts       int           `yaml:"conflicts" min:"1" max:"20" doc:"conflicts of one ticket that the merger resolves, before the manager is asked"`
	ModelWait       time.Duration `yaml:"model_wait" min:"0s" max:"168h" doc:"how long to wait for a model that is busy, silent or away; a silent one is asked again once at least"`
	ModelSilence    time.Duration `yaml:"model_silence" min:"0s" max:"1h" doc:"how long a model may be silent before it is asked again, three times that where its server sends keep-alives; 0s: 5m, and 15m for ollama"`
	StopGrace       time.Duration `yaml:"stop_grace" min:"0s" max:"10m" doc:"between SIGTERM and SIGKILL of a command that an agent started; 0s: none"`
	ConcurrentTasks int           `yaml:"concurrent_tasks" min:"1" max:"256" doc:"tasks under way at a time"`
	MergeStack      int           `yaml:"merge_stack" min:"1" max:"16" doc:"subtasks of a task that are merged and tested at once; 1: one after the other"`
	Readers         int           `yaml:"readers" min:"1" max:"256" doc:"managers and reviewers at work at a time"`
	Exclusive       bool          `yaml:"exclusive" doc:"whether a base branch of a project may have one unfinished task at a time: a second submission on it is refused"`
	Writers         int           `yaml:"writers" min:"0" max:"256" doc:"workers and mergers at work at a time in one project; 0: as many as there are workers"`
}

// PlanLimits limits the size of the subtasks of a plan.
type PlanLimits struct {
	Way         string `yaml:"way" enum:"auto one split" doc:"how a task begins: one worker with the instruction as its ticket (one), a plan by the manager (split), or by how many pieces of work the instruction lists (auto); a worker that finds it large gives it to the manager"`
	MaxSubtasks int    `yaml:"max_subtasks" min:"1" max:"64" doc:"subtasks of one task; a plan with more is refused, and its manager fuses some"`
	MaxWriteSet int    `yaml:"max_write_set" min:"1" max:"64" doc:"paths and globs in the write set of one subtask; a plan with a larger one is refused, and its manager splits it"`
	MaxEffort   string `yaml:"max_effort" enum:"small medium large" doc:"largest effort that a manager may estimate for one subtask; a plan with a larger one is refused, and its manager splits it; at small, a manager plans each instruction"`
	AllowTiny   bool   `yaml:"allow_tiny" doc:"accept a plan that splits into parts that are all tiny: one file and a line of description each"`
}

// Review sets how the findings of a review are confirmed.
type Review struct {
	Confirm string `yaml:"confirm" enum:"off blocking all" doc:"blocking: a second reviewer, of agents.second_reviewer where it has a model, judges findings that block before a ticket goes back for them; all: those of an approving review, too, before the merge, where what it newly finds to block sends the ticket back; off: none"`
}

// Serve configures the TCP address of company serve, in addition to its socket.
type Serve struct {
	// If the default port is taken, a free one is used: see api.TCPOptions.
	Listen   string   `yaml:"listen" check:"listen_any" doc:"address on which company serve answers browsers and programs, such as 127.0.0.1:7777; empty: none. Port 0 takes a free one, and so does the default where its port is taken; an address that other machines reach needs tls_cert and tls_key"`
	TLSCert  string   `yaml:"tls_cert" check:"file" doc:"certificate of serve.listen in PEM, with its chain behind it"`
	TLSKey   string   `yaml:"tls_key" check:"file" doc:"private key of tls_cert in PEM; a file that its owner alone can read"`
	Hosts    []string `yaml:"hosts" check:"host_port" doc:"further names by which browsers reach serve.listen, such as that of a proxy in front of it"`
	TokenEnv string   `yaml:"token_env" check:"env_name" doc:"environment variable that holds a token by which programs use serve.listen; it has 16 characters or more"`
}

// Log configures the log of an office.
type Log struct {
	Level string `yaml:"level" enum:"error warn info debug" doc:"the least that is written: error: what needs a person, warn: what was put right, info: the events, debug: each step"`
}

// Default returns the config of an office that sets no values.
func Default() Config {
	agent := Agent{MaxTurns: 30}
	return Config{
		Version: 1,
		Models:  map[string]Model{"default": {Adapter: "ollama", Model: "llama3", Tools: Auto, Images: Auto}},
		Agents: Agents{Manager: agent, Worker: WorkerAgent{MaxTurns: agent.MaxTurns}, Reviewer: agent, Merger: agent,
			SecondReviewer: agent},
		Workers: Workers{Max: 3, CommandTimeout: 300 * time.Second, RunTimeout: 30 * time.Minute,
			Memory: 4 << 30, CPUs: 2, PIDs: 512, Warm: 1},
		Container: Container{Image: Auto, Deps: "locked", CleanupTimeout: time.Minute, KeepImages: 5},
		Bus:       Bus{Driver: "nats"},
		Git: Git{Base: Auto, IntegrationBranch: "develop", Remote: "origin",
			Credential: "token", Sign: "none", History: company.HistorySquash},
		Forge: Forge{Kind: Auto, TokenEnv: "GITHUB_TOKEN", Poll: time.Minute, Draft: Auto, Reviewers: "codeowners"},
		Gates: Gates{Lint: Command{Mode: Auto}, Types: Command{Mode: Auto}, Build: Command{Mode: Auto},
			Test: Command{Mode: Auto}, Services: []string{Auto}, None: "ask", RedGreen: "report", Canary: true,
			FirstStepAfter: time.Minute},
		Budget: Budget{USD: 5_000_000, Tokens: TokensAuto, DayUSD: USDCap(company.NoCap),
			DayTokens: TokenLimit(company.NoCap),
			OfficeUSD: USDCap(company.NoCap), OfficeTokens: TokenLimit(company.NoCap)},
		Approvals: Approvals{Plan: Auto, Merge: Auto, PR: Auto, Deps: Auto},
		Limits: Limits{Continuations: 3, RunRetries: 2, GateRetries: 2, ReviewRounds: 2, Conflicts: 2,
			ModelWait: 15 * time.Minute, StopGrace: 3 * time.Second, ConcurrentTasks: 4, MergeStack: 4, Readers: 9},
		Plan:          PlanLimits{Way: company.WayAuto, MaxSubtasks: 64, MaxWriteSet: 64, MaxEffort: company.EffortLarge},
		Review:        Review{Confirm: company.ConfirmOff},
		Serve:         Serve{Listen: "127.0.0.1:7777"},
		Log:           Log{Level: "info"},
		Paths:         ReadablePaths{Runtime: DefaultRuntime, Backlog: DefaultBacklog},
		Recovery:      Auto,
		RetentionDays: 7,
	}
}

// BudgetCap returns the budget of a task. priced reports whether all of its models have a known price.
func (c Config) BudgetCap(priced bool) company.Amount {
	tokens := int64(c.Budget.Tokens)
	if c.Budget.Tokens == TokensAuto {
		tokens = company.NoCap
		if !priced {
			tokens = 5_000_000
		}
	}
	return company.Amount{MicroUSD: int64(c.Budget.USD), Tokens: tokens}
}

// OfficeCaps returns the caps for all tasks together.
func (c Config) OfficeCaps() company.OfficeCaps {
	return company.OfficeCaps{
		Day:    company.Amount{MicroUSD: int64(c.Budget.DayUSD), Tokens: int64(c.Budget.DayTokens)},
		Office: company.Amount{MicroUSD: int64(c.Budget.OfficeUSD), Tokens: int64(c.Budget.OfficeTokens)},
	}
}

// Agent returns the config of a role.
func (c Config) Agent(r company.Role) Agent {
	switch r {
	case company.Manager:
		return c.Agents.Manager
	case company.Reviewer:
		return c.Agents.Reviewer
	case company.Merger:
		return c.Agents.Merger
	}
	return c.Agents.Worker.Agent()
}

// HostResources are the resources of the host that limit a config.
type HostResources struct {
	CPUs       float64
	Memory     Size // memory of the daemon's machine
	SizeOption bool // whether the storage driver can limit a container's disk
}

// ForHost adapts values to the machine. workers.max, unless it is set, is lowered to the number that fits into memory
// (at least 1). workers.cpus is limited to the host's CPUs. An auto disk becomes a size.
func (l Loaded) ForHost(resources HostResources) Config {
	config := l.Config
	if l.Origin["workers.max"] == OriginDefault && resources.Memory > 0 {
		config.Workers.Max = max(1, min(config.Workers.Max, int(resources.Memory/config.Workers.Memory)))
	}
	if resources.CPUs > 0 {
		config.Workers.CPUs = min(config.Workers.CPUs, resources.CPUs)
	}
	if config.Workers.Disk == 0 {
		config.Workers.Disk = 2 << 30
		if resources.SizeOption {
			config.Workers.Disk = 10 << 30
		}
	}
	return config
}
