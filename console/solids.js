// Shapes of three.js for the geometry of a scene. The service places everything; nothing is computed
// a second time here.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, DoubleSide, EdgesGeometry, Group, LineBasicMaterial,
  LineSegments, Mesh, MeshBasicMaterial, MeshLambertMaterial, Quaternion, SphereGeometry, Vector3,
} from './three.module.js';
import { color } from './dom.js';

const SOLID = 11; // center, rotation, half extents, radius

/** How a body is painted: [variable of the style sheet, opacity]. */
const paints = {
  target: ['--target', 0.92], arrival: ['--arrival', 0.28], shooter: ['--shooter', 0.92], bystander: ['--bystander', 0.6],
  mover: ['--mover', 0.7], passable: ['--mover', 0.2], ghost: ['--target', 0.2],
};

function paint(kind) {
  const [name, opacity] = paints[kind];
  return new MeshLambertMaterial({ color: color(name), opacity, transparent: opacity < 1, depthWrite: opacity > 0.5 });
}

/** Draws a solid: a box that is grown by a radius. A sphere has no extents; a capsule has one, along z. */
function solid(numbers, origin, material) {
  const [x, y, z, qx, qy, qz, qw, hx, hy, hz, radius] = numbers;
  const group = new Group();
  const add = (geometry, place) => {
    const mesh = new Mesh(geometry, material);
    if (place !== undefined) mesh.position.set(0, 0, place);
    group.add(mesh);
    return mesh;
  };
  group.position.set(x - origin[0], y - origin[1], z - origin[2]);
  group.quaternion.set(qx, qy, qz, qw);
  if (radius === 0) {
    add(new BoxGeometry(2 * hx, 2 * hy, 2 * hz));
  } else if (hx === 0 && hy === 0) {
    add(new SphereGeometry(radius, 24, 16), hz);
    if (hz > 0) {
      add(new SphereGeometry(radius, 24, 16), -hz);
      add(new CylinderGeometry(radius, radius, 2 * hz, 24, 1, true)).rotateX(Math.PI / 2);
    }
  } else {
    add(new BoxGeometry(2 * (hx + radius), 2 * (hy + radius), 2 * (hz + radius)));
  }
  return group;
}

/** All hitboxes of a body, true to shape. */
export function body(placed, origin, kind) {
  const group = new Group();
  const material = paint(kind);
  for (let at = 0; at + SOLID <= placed.solids.length; at += SOLID) {
    group.add(solid(placed.solids.slice(at, at + SOLID), origin, material));
  }
  return group;
}

export function mover(placed, origin) {
  return solid(placed.at, origin, paint(placed.solid ? 'mover' : 'passable'));
}

/** Walls are translucent, with dark edges, so that bodies behind them stay visible. */
export function walls(scene, origin) {
  const group = new Group();
  const { triangles = [], boxes = [] } = scene.walls ?? {};
  const material = new MeshLambertMaterial({
    color: color('--wall'), opacity: 0.3, transparent: true, depthWrite: false, side: DoubleSide,
  });
  const edges = new LineBasicMaterial({ color: color('--edge') });
  const add = (geometry, place) => {
    const mesh = new Mesh(geometry, material);
    const lines = new LineSegments(new EdgesGeometry(geometry, 10), edges);
    if (place) {
      mesh.position.copy(place);
      lines.position.copy(place);
    }
    group.add(mesh, lines);
  };
  if (triangles.length > 0) {
    const geometry = new BufferGeometry();
    const places = Float32Array.from(triangles, (value, i) => value - origin[i % 3]);
    geometry.setAttribute('position', new BufferAttribute(places, 3));
    geometry.computeVertexNormals();
    add(geometry);
  }
  for (let at = 0; at + 6 <= boxes.length; at += 6) {
    const [a, b, c, d, e, f] = boxes.slice(at, at + 6);
    add(new BoxGeometry(d - a, e - b, f - c),
      new Vector3((a + d) / 2 - origin[0], (b + e) / 2 - origin[1], (c + f) / 2 - origin[2]));
  }
  return group;
}

/** A straight tube between two places. */
export function tube(from, to, radius, name, opacity = 1) {
  const along = new Vector3().subVectors(to, from);
  const length = along.length();
  const material = new MeshBasicMaterial({
    color: color(name), opacity, transparent: opacity < 1, depthWrite: opacity === 1,
  });
  const mesh = new Mesh(new CylinderGeometry(radius, radius, length, 16, 1, opacity === 1), material);
  mesh.position.addVectors(from, to).multiplyScalar(0.5);
  if (length > 0) mesh.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), along.divideScalar(length)));
  return mesh;
}

export function ball(at, radius, name, opacity = 1) {
  const material = new MeshBasicMaterial({ color: color(name), opacity, transparent: opacity < 1, depthWrite: opacity === 1 });
  const mesh = new Mesh(new SphereGeometry(radius, 20, 14), material);
  mesh.position.copy(at);
  return mesh;
}

/** Frees what a group holds on the graphics card. */
export function dispose(group) {
  group.traverse((object) => {
    object.geometry?.dispose();
    object.material?.dispose();
  });
}
