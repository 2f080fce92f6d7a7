// Runs the install scripts of packages that are named, wherever they are installed
// below the current folder:   node runscripts.cjs SECONDS PACKAGE...
// Each script may take so many seconds. Native code is built with the headers that lie
// beside the node that runs this; nothing is downloaded for it.
'use strict';
const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');

const seconds = Number(process.argv[2]);
const names = process.argv.slice(3);

const list = (dir) => {
  try {
    return fs.readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
};

// findModules lists the node_modules in the folders of a project.
function findModules(dir, out = []) {
  for (const e of list(dir)) {
    if (!e.isDirectory()) continue;
    if (e.name === 'node_modules') out.push(path.join(dir, e.name));
    else findModules(path.join(dir, e.name), out);
  }
  return out;
}

// findPackage lists the folders of a package in a node_modules and in those below it.
function findPackage(modules, name, out = []) {
  const dir = path.join(modules, name);
  if (fs.existsSync(path.join(dir, 'package.json')) && !fs.lstatSync(dir).isSymbolicLink()) out.push(dir);
  for (const e of list(modules)) {
    if (!e.isDirectory() || e.name === '.bin') continue;
    const at = path.join(modules, e.name);
    const below = e.name[0] === '@' || e.name === '.prepared' ? list(at).filter((p) => p.isDirectory()).map((p) => path.join(at, p.name)) : [at];
    for (const p of below) findPackage(path.join(p, 'node_modules'), name, out);
  }
  return out;
}

// makeGyp gives the folder of a program node-gyp that is npm's own.
function makeGyp() {
  const places = process.env.PATH.split(':').map((dir) => path.join(dir, 'npm')).filter((file) => fs.existsSync(file)).map((file) => path.dirname(fs.realpathSync(file)));
  let gyp;
  try {
    gyp = require.resolve('node-gyp/bin/node-gyp.js', { paths: [...places, '/usr/share/nodejs'] });
  } catch {
    return { dir: '', gyp: '' };
  }
  const dir = fs.mkdtempSync('/tmp/gyp-');
  process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
  fs.writeFileSync(path.join(dir, 'node-gyp'), `#!/bin/sh\nexec "${process.execPath}" "${gyp}" "$@"\n`, { mode: 0o755 });
  return { dir, gyp };
}

// headers is the folder with the headers of this very node.
function findHeaders() {
  const wanted = process.versions.node.split('.');
  for (const dir of [path.dirname(path.dirname(process.execPath)), '/usr/local', '/usr']) {
    const file = path.join(dir, 'include/node/node_version.h');
    if (!fs.existsSync(file)) continue;
    const text = fs.readFileSync(file, 'utf8');
    if (['MAJOR', 'MINOR', 'PATCH'].every((part, i) => text.includes(`#define NODE_${part}_VERSION ${wanted[i]}\n`))) return dir;
  }
  return '';
}

const { dir: gypDir, gyp } = makeGyp();
const headers = findHeaders();

function run(name, dir, manifest, event, command) {
  console.log(`${name}: ${event}: ${command}`);
  const bins = [];
  for (let at = dir; at !== '/'; at = path.dirname(at)) bins.push(path.join(at, 'node_modules/.bin'));
  const env = {
    ...process.env, PATH: [...bins, gypDir, process.env.PATH].filter(Boolean).join(':'), HOME: '/tmp', INIT_CWD: process.cwd(), NODE: process.execPath, npm_node_execpath: process.execPath,
    npm_lifecycle_event: event, npm_lifecycle_script: command, npm_package_name: manifest.name || name, npm_package_version: manifest.version || '', npm_package_json: path.join(dir, 'package.json'),
    npm_config_node_gyp: gyp, npm_config_nodedir: headers, npm_command: 'rebuild', npm_config_ignore_scripts: '', JOBS: 'max',
  };
  return new Promise((done) => {
    const child = spawn('sh', ['-c', command], { cwd: dir, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    let late = false;
    const stop = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // all of it has ended
      }
    };
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, seconds * 1000);
    child.on('error', (err) => done(`the install script of ${name} cannot be started: ${err.message}`));
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      stop(); // what it has left in the background
      if (late) done(`the install script of ${name} did not end within ${seconds} seconds: ${command}`);
      else if (code !== 0) done(`the install script of ${name} failed (${signal || `exit code ${code}`}): ${command}`);
      else done('');
    });
  });
}

(async () => {
  const modules = findModules('.').map((dir) => path.resolve(dir));
  for (const name of names) {
    for (const dir of modules.flatMap((at) => findPackage(at, name))) {
      const manifest = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
      const scripts = { ...manifest.scripts };
      if (!scripts.install && !scripts.preinstall && manifest.gypfile !== false && fs.existsSync(path.join(dir, 'binding.gyp'))) scripts.install = 'node-gyp rebuild';
      for (const event of ['preinstall', 'install', 'postinstall']) {
        const failure = scripts[event] ? await run(name, dir, manifest, event, scripts[event]) : '';
        if (failure) {
          console.error(failure);
          process.exitCode = 1;
          return;
        }
      }
    }
  }
})();
