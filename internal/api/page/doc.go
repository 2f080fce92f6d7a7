// Package page serves the office's page for browsers. It has the files built from web/ and their
// handler.
//
// It owns the security headers: the page may use only its own scripts, styles and connections, and
// other pages cannot frame it. Each route of the page returns the page, and browsers cache assets
// permanently. A test compares hashes, without Node, to check that the built files match their
// sources. The package has no data of the office. The page requests that from the API with its
// user's token.
package page
