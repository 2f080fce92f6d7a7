package toolproto

import "time"

// The limits of the tools. They hold in the toolbox; the client bounds what it
// reads by the same numbers.
const (
	MaxFile   = 10 << 20 // bytes of a file that is written, edited or read raw
	ReadBytes = 50 << 10 // bytes that read_file returns at once
	ReadLines = 2000     // lines that read_file returns at once
	ReadLine  = 2000     // bytes of a line that are shown

	SearchHits    = 100    // matches of one search
	SearchCounted = 20_000 // lines that match, after which a search ends
	SearchFiles   = 30     // files whose hits are counted one by one
	SearchLine    = 500    // bytes of a matching line that are shown
	ListFiles     = 500    // paths of one list

	OutputHead = 5 << 10  // bytes kept of the beginning of stdout, and of stderr
	OutputTail = 5 << 10  // bytes kept of their end
	MaxLog     = 10 << 20 // bytes of a command's whole log
	LiveBytes  = 2 << 10  // bytes of the newest output that are shown while a command runs

	CommandTimeout    = 300 * time.Second
	MaxCommandTimeout = 15 * time.Minute // of an agent's command, and of a build's of usual size
	MaxBuildTimeout   = time.Hour        // of a command that makes a layer of an image
	StopGrace         = 3 * time.Second  // from SIGTERM to SIGKILL
	LiveEvery         = time.Second      // from one look at the output of a command that runs to the next
	Overrun           = time.Minute      // from the end of a command's time to its answer, at most

	// HeartbeatEvery is how often a client says that it lives; without any
	// call for DeadMan the toolbox ends itself and its container.
	HeartbeatEvery = 5 * time.Second
	DeadMan        = 30 * time.Second

	// ModuleNotThere is part of the go command's message when a module is not
	// in the image's cache: it wants to lock what it would download.
	ModuleNotThere = ".lock: read-only file system"

	// GatewayPort is where the gateway is reached inside the container.
	GatewayPort = 8377
	// Workspace is where the repository lies in the container.
	Workspace = "/work/repo"
	// AttachedFolder is where the files of the instruction lie in the container, beside
	// the workspace.
	AttachedFolder = "/work/attached"
)
