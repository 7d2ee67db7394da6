// The picture of a verdict: bodies, shot, walls; four views; labels; the bodies of one recorded frame.

import {
  AmbientLight, Box3, DirectionalLight, GridHelper, Group, OrthographicCamera, PerspectiveCamera, Quaternion, Scene, Vector3,
  WebGLRenderer,
} from './three.module.js';
import { OrbitControls } from './OrbitControls.js';
import { color, el, quantity } from './dom.js';
import { ball, body, dispose, mover, tube, walls } from './solids.js';

export const views = { orbit: 'Orbit', top: 'Top', side: 'Side', barrel: 'Down the barrel' };

const axes = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

/** Built-in rulesets of engines with left-handed axes. Other rulesets do not name the engine. */
const leftHanded = ['unity', 'unreal'];
const handKey = (ruleset) => `hindsight-left-handed-${ruleset.name}`;

/** Whether the axes of a game are left-handed: the reader's choice, or what the name of the ruleset says. */
export function isLeftHanded(ruleset) {
  const chosen = localStorage.getItem(handKey(ruleset));
  return chosen === null ? leftHanded.includes(ruleset.name) : chosen === 'true';
}

export function setLeftHanded(ruleset, isLeft) {
  localStorage.setItem(handKey(ruleset), String(isLeft));
}

/** A claim can contain any number. Places farther from 0 than this are not drawn. */
const FARTHEST = 1e9;

/** Length of a cell of the grid, by unit: about one metre. */
const cells = { m: 1, cm: 100, in: 40 };

export class Stage {
  /** Throws if the browser cannot draw in three dimensions. */
  constructor(scene, signal) {
    this.scene = scene;
    this.labels = [];
    this.canvas = el('canvas', { tabindex: '0', role: 'img', 'aria-label': this.describe() });
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true });
    this.overlay = el('div', { class: 'labels', 'aria-hidden': 'true' });
    this.cross = el('div', { class: 'cross', hidden: true, 'aria-hidden': 'true' });
    this.element = el('div', { class: 'stage' }, this.canvas, this.overlay, this.cross);
    this.world = new Scene();
    this.measure();
    this.build();
    this.canvas.addEventListener('keydown', (event) => this.turn(event));
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.element);
    signal.addEventListener('abort', () => {
      observer.disconnect();
      this.controls?.dispose();
      dispose(this.world);
      this.renderer.dispose();
      this.renderer.forceContextLoss();
    });
    this.look('orbit');
  }

  describe() {
    const { verdict, shot } = this.scene;
    const miss = shot.closest && shot.closest.distance > 0
      ? ` The shot misses by ${quantity(shot.closest.distance, 'length', this.scene.length_unit)}.` : '';
    return `Picture of the shot of ${verdict.player}${verdict.target ? ` at ${verdict.target}` : ''}.${miss}`
      + ' Arrow keys turn it, plus and minus zoom.';
  }

  /** A place relative to the origin of the picture. Far from 0, the 32-bit floats of the graphics card are too coarse. */
  at(point) {
    return new Vector3(point[0] - this.origin[0], point[1] - this.origin[1], point[2] - this.origin[2]).multiply(this.flip);
  }

  /** Finds the directions and sizes that the other methods draw with. */
  measure() {
    const { bodies, shot, shooter, up, length_unit: unit } = this.scene;
    // The picture has right-handed axes. Left-handed ones are mirrored along a level axis.
    this.flip = new Vector3(1, 1, 1);
    if (isLeftHanded(this.scene.ruleset)) this.flip.setComponent(up[1] === 'x' ? 1 : 0, -1);
    const find = (role, when) => bodies.find((one) => one.role === role && (when === undefined || one.when === when));
    this.target = find('target', 'hit_time') ?? find('target');
    this.shooter = find('shooter');
    this.origin = (this.target ?? this.shooter)?.root ?? shooter.eye ?? shot.start;
    this.up = new Vector3(...axes[up[1]]).multiplyScalar(up[0] === '-' ? -1 : 1);
    this.path = this.findPath();
    [this.start] = this.path;
    this.forward = new Vector3().subVectors(this.path[this.path.length - 1], this.start).normalize();
    if (this.forward.length() < 0.5) this.forward.set(this.up.z, this.up.x, this.up.y); // any level direction
    this.side = new Vector3().crossVectors(this.forward, this.up);
    if (this.side.length() < 0.01) this.side.set(this.up.y, this.up.z, this.up.x);
    this.side.normalize();
    // The height of a body is the yardstick of labels, lines and views.
    const eyes = bodies.map((one) => this.at(one.eye).distanceTo(this.at(one.root)));
    this.height = Math.max(0, ...eyes) * 1.1 || 1.8 * (cells[unit] ?? 1);
    this.line = this.height * 0.011;
  }

  /** The path of the shot. A claim without a path gets a line to its end, to a pellet or to the target. */
  findPath() {
    const { shot, shooter } = this.scene;
    const isDrawable = (point) => point?.every((value) => Math.abs(value) < FARTHEST);
    if (shot.path?.length > 1 && shot.path.every(isDrawable)) return shot.path.map((point) => this.at(point));
    const ends = [shot.start, shooter.eye, this.origin].filter(isDrawable);
    const leads = [shot.end, ...(shot.pellets ?? []).map((pellet) => pellet.end), this.target?.eye].filter(isDrawable);
    return [ends[0], ...leads.slice(0, 1)].map((point) => this.at(point));
  }

  build() {
    const light = new DirectionalLight(0xffffff, 0.55);
    light.position.copy(this.up).multiplyScalar(3).add(this.side).sub(this.forward);
    this.moment = new Group();
    this.frame = new Group();
    this.trace = new Group();
    const solids = new Group();
    solids.add(walls(this.scene, this.origin), ...(this.scene.movers ?? []).map((one) => mover(one, this.origin)));
    for (const group of [solids, this.moment, this.frame]) group.scale.copy(this.flip);
    this.world.add(new AmbientLight(0xffffff, 0.65), light, solids, this.moment, this.frame, this.trace);
    this.addGrid();
    this.addBodies();
    this.addShot();
    this.addFindings();
  }

  addGrid() {
    const cell = cells[this.scene.length_unit] ?? this.height / 1.8;
    const grid = new GridHelper(cell * 40, 40, color('--grid'), color('--grid'));
    grid.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), this.up));
    const roots = this.scene.bodies.map((one) => this.at(one.root).dot(this.up));
    const low = roots.length > 0 ? Math.min(...roots) : 0;
    grid.position.copy(this.up).multiplyScalar(low + this.line / 4);
    this.world.add(grid);
  }

  label(at, text, kind, group) {
    const element = el('span', { class: `label ${kind}` }, text);
    this.overlay.append(element);
    this.labels.push({ at, element, group });
  }

  addBodies() {
    const { bodies, times } = this.scene;
    const later = Math.round((times.now - times.hit_time) * 1000);
    for (const one of bodies) {
      const kind = one.role === 'target' && one.when === 'arrival' ? 'arrival' : one.role;
      const shape = body(one, this.origin, kind);
      this.moment.add(shape);
      const text = kind === 'arrival' ? `${one.player}, ${later} ms later` : one.player;
      const root = this.at(one.root);
      const away = Math.min(root.length(), root.distanceTo(this.start)); // the origin is at the target
      if (kind !== 'bystander' || away < this.height * 12 || this.isInvolved(one)) this.label(this.at(one.root), text, kind, this.moment);
      if (one === this.shooter) this.shooterShape = shape;
    }
  }

  /** Draws the trace with its radius: bright up to where the shot was stopped, faint after that. */
  addShot() {
    const { shot, shooter } = this.scene;
    const isTraced = shot.path?.length > 1;
    const stop = shot.stopped ? this.at(shot.stopped.point) : null;
    let isPast = false;
    for (let i = 0; isTraced && i + 1 < this.path.length; i++) {
      const [from, to] = [this.path[i], this.path[i + 1]];
      const along = new Vector3().subVectors(to, from);
      const share = stop && !isPast ? new Vector3().subVectors(stop, from).dot(along) / along.lengthSq() : 2;
      const middle = share <= 1 ? from.clone().addScaledVector(along, Math.max(0, share)) : null;
      if (!isPast) this.trace.add(tube(from, middle ?? to, this.line, '--trace'));
      isPast = isPast || middle !== null;
      if (isPast) this.trace.add(tube(middle ?? from, to, this.line * 0.6, '--trace', 0.35));
      if (shot.radius > this.line) this.trace.add(tube(from, middle ?? to, shot.radius, '--trace', 0.25));
    }
    this.trace.add(ball(this.start, this.line * 2.2, '--trace'));
    if (shooter.eye && shooter.aim) {
      const eye = this.at(shooter.eye);
      const aim = new Vector3(...shooter.aim).multiply(this.flip).multiplyScalar(this.height * 0.8);
      this.trace.add(tube(eye, eye.clone().add(aim), this.line * 0.7, '--shooter'));
      const isTooFar = this.scene.answer.checks?.some((check) => check.check === 'origin' && check.outcome === 'fail');
      if (isTooFar) {
        this.trace.add(tube(eye, this.start, this.line * 0.9, '--miss'));
        this.label(eye.clone().add(this.start).multiplyScalar(0.5),
          `${quantity(shooter.start_offset, 'length', this.scene.length_unit)} from the eye`, 'miss');
      }
    }
    for (const pellet of shot.pellets ?? []) {
      if (pellet.end) this.trace.add(tube(this.start, this.at(pellet.end), this.line * 0.5, pellet.player ? '--trace' : '--edge', 0.6));
    }
    if (shot.blast) this.trace.add(ball(this.at(shot.blast.center), shot.blast.radius, '--trace', 0.15));
  }

  /** Draws where the shot touched something, and by how much it missed. */
  addFindings() {
    const { shot, length_unit: unit } = this.scene;
    if (shot.closest && shot.closest.distance > 0) {
      const [onShot, onBody] = [this.at(shot.closest.on_shot), this.at(shot.closest.on_body)];
      this.world.add(tube(onShot, onBody, this.line * 1.2, '--miss'), ball(onShot, this.line * 2.2, '--miss'),
        ball(onBody, this.line * 2.2, '--miss'));
      this.label(onShot.clone().add(onBody).multiplyScalar(0.5),
        `missed by ${quantity(shot.closest.distance, 'length', unit)}`, 'miss');
    }
    if (shot.stopped) {
      const at = this.at(shot.stopped.point);
      const what = shot.stopped.name ?? { wall: 'wall', mover: 'moving part', player: 'player' }[shot.stopped.by];
      this.world.add(ball(at, this.line * 2.2, '--stop'));
      this.label(at, `${what} after ${quantity(shot.stopped.distance, 'length', unit)}`, 'stop');
    } else if (shot.impact) {
      const at = this.at(shot.impact.point);
      this.world.add(ball(at, this.line * 2.2, '--trace'));
      this.label(at, shot.impact.zone ? `hits: ${shot.impact.zone}` : 'impact', 'trace');
    }
  }

  /** Shows a recorded frame, or the claimed moment (null). */
  showFrame(frame) {
    dispose(this.frame);
    this.frame.remove(...this.frame.children);
    this.labels = this.labels.filter((label) => {
      if (label.group === this.frame) label.element.remove();
      return label.group !== this.frame;
    });
    this.moment.visible = frame === null;
    for (const one of frame?.bodies ?? []) {
      this.frame.add(body(one, this.origin, one.role));
      this.label(this.at(one.root), one.player, one.role, this.frame);
    }
    if (frame !== null && this.target) this.frame.add(body(this.target, this.origin, 'ghost'));
    this.draw();
  }

  // ---- views ----

  /** Whether a check names the player of a body: they stood in the way, or were hit. */
  isInvolved(one) {
    return this.scene.answer.checks?.some((check) => check.player === one.player && check.outcome === 'fail') ?? false;
  }

  /** Places of a body: from its name, below the feet, to above the head. */
  placesOf(one) {
    const [root, eye] = [this.at(one.root), this.at(one.eye)];
    const places = [root.addScaledVector(this.up, -this.height * 0.2), eye.addScaledVector(this.up, this.height * 0.2)];
    for (let i = 0; i < one.solids.length; i += 11) places.push(this.at(one.solids.slice(i, i + 3)));
    return places;
  }

  /** The places that a view must contain: the target and the miss, and also the shooter if they are near. */
  focus() {
    const { shot } = this.scene;
    const near = this.target ? this.placesOf(this.target) : [this.path[this.path.length - 1]];
    for (const one of this.scene.bodies.filter((other) => other.when === 'arrival')) near.push(this.at(one.root));
    for (const point of [shot.closest?.distance > 0 ? shot.closest.on_shot : null, shot.stopped?.point]) {
      if (point && this.at(point).distanceTo(near[0]) < this.height * 8) near.push(this.at(point));
    }
    for (const one of this.scene.bodies.filter((other) => other.role === 'bystander' && this.isInvolved(other))) {
      if (this.at(one.root).distanceTo(near[0]) < this.height * 12) near.push(...this.placesOf(one));
    }
    const whole = [...near, this.start, ...(this.shooter ? this.placesOf(this.shooter) : [])];
    return { near, whole, isNear: this.start.distanceTo(near[0]) < this.height * 20 };
  }

  look(view) {
    const { near, whole, isNear } = this.focus();
    const places = view === 'barrel' || (view === 'orbit' && !isNear) ? near : whole;
    const box = new Box3().setFromPoints(places);
    const center = box.getCenter(new Vector3());
    const radius = Math.max(box.getSize(new Vector3()).length() / 2, this.height * 0.7);
    this.view = view;
    if (view === 'top' || view === 'side') this.lookStraight(view, center, radius);
    else if (view === 'barrel') this.lookAlong(center, places);
    else this.lookAround(center, radius);
    this.cross.hidden = view !== 'barrel';
    // The camera is where the shot starts: the shooter and the trace would hide everything.
    this.trace.visible = view !== 'barrel';
    if (this.shooterShape) this.shooterShape.visible = view !== 'barrel';
    this.camera.lookAt(center);
    if (view !== 'barrel') this.fit(places, center);
    this.controls?.dispose();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableKeys = false;
    this.controls.target.copy(center);
    this.controls.enableRotate = view === 'orbit';
    this.controls.update();
    this.controls.addEventListener('change', () => this.draw());
    this.resize();
  }

  lookAround(center, radius) {
    this.camera = new PerspectiveCamera(35, 1, radius / 100, radius * 200);
    this.camera.up.copy(this.up);
    const from = this.side.clone().addScaledVector(this.up, 0.55).addScaledVector(this.forward, -0.45).normalize();
    this.camera.position.copy(center).addScaledVector(from, radius / Math.sin((35 / 2) * (Math.PI / 180)));
  }

  lookStraight(view, center, radius) {
    this.camera = new OrthographicCamera(-1, 1, 1, -1, radius / 100, radius * 200);
    const level = this.forward.clone().addScaledVector(this.up, -this.forward.dot(this.up));
    if (level.length() < 0.01) level.crossVectors(this.up, this.side);
    const across = new Vector3().crossVectors(this.up, level.normalize());
    this.camera.up.copy(view === 'top' ? across : this.up);
    this.camera.position.copy(center).addScaledVector(view === 'top' ? this.up : across, view === 'top' ? radius * 50 : -radius * 50);
  }

  /** Moves the camera, or widens its view, until the places fill most of the picture. */
  fit(places, center) {
    const { camera } = this;
    const extent = () => {
      camera.updateMatrixWorld();
      camera.matrixWorldInverse.getInverse(camera.matrixWorld);
      const seen = places.map((place) => place.clone().applyMatrix4(camera.matrixWorldInverse));
      const scale = camera.isOrthographicCamera ? () => 1 : (place) => 1 / Math.max(-place.z, this.line);
      return {
        width: Math.max(...seen.map((place) => Math.abs(place.x) * scale(place))),
        height: Math.max(...seen.map((place) => Math.abs(place.y) * scale(place))),
      };
    };
    const shape = this.element.clientWidth / Math.max(1, this.element.clientHeight) || 1.6;
    if (camera.isOrthographicCamera) {
      const { width, height } = extent();
      this.extent = { width: width * 1.2, height: Math.max(height, this.height * 0.5) * 1.25 };
      return;
    }
    const limit = Math.tan((camera.fov / 2) * (Math.PI / 180));
    for (let i = 0; i < 4; i++) {
      const { width, height } = extent();
      // A single point has no extent, and the camera would move into it.
      const least = (this.height * 0.5) / camera.position.distanceTo(center);
      const factor = Math.max(width / shape, height, least) / limit / 0.8;
      camera.position.sub(center).multiplyScalar(factor).add(center);
    }
  }

  /** Looks from just behind the start, with a view as narrow as target and miss allow. */
  lookAlong(center, places) {
    const distance = Math.max(this.start.distanceTo(center), this.height);
    const angles = places.map((place) => new Vector3().subVectors(place, this.start).angleTo(this.forward));
    const fov = Math.max(1, Math.min(110, 2.3 * Math.max(...angles) * (180 / Math.PI)));
    this.camera = new PerspectiveCamera(fov, 1, distance / 1000, distance * 1000);
    this.camera.up.copy(this.up);
    this.camera.position.copy(this.start).addScaledVector(this.forward, -distance * 0.01);
    center.copy(this.start).addScaledVector(this.forward, distance);
  }

  /** Turns and zooms by keys. */
  turn(event) {
    const { camera, controls } = this;
    const offset = new Vector3().subVectors(camera.position, controls.target);
    const across = new Vector3().crossVectors(this.up, offset).normalize();
    const step = { ArrowLeft: [this.up, -0.12], ArrowRight: [this.up, 0.12], ArrowUp: [across, -0.12], ArrowDown: [across, 0.12] }[event.key];
    const zoom = { '+': 1.15, '=': 1.15, '-': 1 / 1.15 }[event.key];
    if (zoom !== undefined) {
      camera.zoom *= zoom;
      camera.updateProjectionMatrix();
    } else if (step !== undefined && this.view === 'orbit') {
      const turned = offset.clone().applyAxisAngle(step[0], step[1]);
      if (Math.abs(turned.clone().normalize().dot(this.up)) > 0.99) return;
      camera.position.copy(controls.target).add(turned);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    controls.update();
    this.draw();
  }

  // ---- drawing ----

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    const shape = width / height;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(width, height, false);
    if (this.camera.isOrthographicCamera) {
      const half = Math.max(this.extent.height, this.extent.width / shape);
      Object.assign(this.camera, { left: -half * shape, right: half * shape, top: half, bottom: -half });
    } else {
      this.camera.aspect = shape;
    }
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  draw() {
    this.renderer.render(this.world, this.camera);
    this.placeLabels();
  }

  /** Puts names below feet, and findings beside their place. A label that would cover another one moves away. */
  placeLabels() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const taken = [];
    const isFinding = (label) => label.group === undefined;
    const sorted = [...this.labels.filter(isFinding), ...this.labels.filter((label) => !isFinding(label))];
    for (const { at, element, group } of sorted) {
      const place = at.clone().project(this.camera);
      const isHidden = place.z > 1 || (group && !group.visible) || Math.abs(place.x) > 1 || Math.abs(place.y) > 1;
      element.hidden = isHidden;
      if (isHidden) continue;
      const size = { width: element.offsetWidth, height: element.offsetHeight };
      const isBeside = group === undefined;
      const middle = ((place.x + 1) / 2) * width;
      const beside = middle + 14 + size.width > width ? middle - 14 - size.width : middle + 14;
      const left = Math.max(0, Math.min(width - size.width, isBeside ? beside : middle - size.width / 2));
      let top = ((1 - place.y) / 2) * height + (isBeside ? -size.height / 2 : 6);
      const covers = (other) => left < other.left + other.width && other.left < left + size.width
        && top < other.top + other.height && other.top < top + size.height;
      for (let other = taken.find(covers); other; other = taken.find(covers)) {
        top = isBeside ? other.top - size.height - 1 : other.top + other.height + 1;
      }
      element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
      taken.push({ left, top, ...size });
    }
  }
}
