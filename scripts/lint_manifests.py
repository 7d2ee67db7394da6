"""Checks that the files of deploy/ agree with each other and with the program. Prints the faults; the
exit code is 1 if there are any.

    python3 scripts/lint_manifests.py OPTIONS kubernetes <MANIFESTS
    python3 scripts/lint_manifests.py OPTIONS compose deploy/compose.yaml
    python3 scripts/lint_manifests.py OPTIONS envoy deploy/envoy/hindsight.yaml

OPTIONS is a file with the output of `hindsight check-config`. Needs python3-yaml.
"""
import json
import os
import re
import sys

import yaml

# The secret that the operator makes (docs/kubernetes.md), and its keys.
SECRET = ("hindsight-secrets", {"tokens.json", "redis-password", "postgres"})
STORES_S = 25  # seconds at the end of a replica to hand off matches and to store evidence
faults = []


def need(holds, text):
    if not holds:
        faults.append(text)


def read_options(path):
    """Names of options and their values."""
    with open(path, encoding="utf-8") as file:
        words = [line.split() for line in file if len(line.split()) >= 2]
    return {line[0]: line[1] for line in words}


def check_variables(names, options, where):
    for name in names:
        if name.startswith("HINDSIGHT_"):
            need(name.removeprefix("HINDSIGHT_").lower() in options, f"{where}: {name} is not an option")


def labels_match(selector, labels):
    return selector and all(labels.get(key) == value for key, value in selector.items())


def check_pod(owner, template, named, options):
    """A pod template: its volumes, references, probes and rights."""
    spec, labels = template["spec"], template["metadata"]["labels"]
    need(labels_match(owner["spec"]["selector"]["matchLabels"], labels), f"{owner['metadata']['name']}: selector")
    volumes = {v["name"]: v for v in spec.get("volumes", [])}
    claims = {v["metadata"]["name"] for v in owner["spec"].get("volumeClaimTemplates", [])}
    for volume in volumes.values():
        if "configMap" in volume:
            need(("ConfigMap", volume["configMap"]["name"]) in named, f"no ConfigMap for volume {volume['name']}")
        if "secret" in volume:
            need(volume["secret"]["secretName"] == SECRET[0], f"an unknown Secret in volume {volume['name']}")
    need(spec["securityContext"]["runAsNonRoot"] is True, "a pod may run as root")
    need(spec["automountServiceAccountToken"] is False, "a pod gets a token of the cluster")
    for container in spec["containers"]:
        name = container["name"]
        ports = {port["name"] for port in container["ports"]}
        for mount in container["volumeMounts"]:
            need(mount["name"] in claims | set(volumes), f"{name}: no volume {mount['name']}")
        for key in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = container.get(key, {})
            target = probe.get("httpGet") or probe.get("tcpSocket")
            if target:
                need(target["port"] in ports, f"{name}: {key} asks a port that does not exist")
                need(target.get("path", "/livez") in ("/readyz", "/livez"), f"{name}: path of {key}")
        need("readinessProbe" in container and "livenessProbe" in container, f"{name}: probes are missing")
        need("memory" in container["resources"]["limits"], f"{name}: no memory limit")
        rights = container["securityContext"]
        need(rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
             and rights["capabilities"]["drop"] == ["ALL"], f"{name}: has rights that it does not need")
        need(not container["image"].endswith(":latest"), f"{name}: the image has no version")
        for source in container.get("envFrom", []):
            values = named.get(("ConfigMap", source["configMapRef"]["name"]))
            need(values is not None, f"{name}: no ConfigMap {source}")
            data = (values or {}).get("data") or {}
            check_variables(data, options, name)
            for key, value in data.items():
                if value.startswith("/etc/hindsight/secrets/"):
                    need(os.path.basename(value) in SECRET[1], f"{key} names a file that the Secret lacks")
    return labels


def check_kubernetes(options):
    objects = [o for o in yaml.safe_load_all(sys.stdin) if o]
    named = {(o["kind"], o["metadata"]["name"]): o for o in objects}
    need(len(named) == len(objects), "two objects have the same name")
    pods = {}
    for kind, name in list(named):
        if kind in ("StatefulSet", "Deployment"):
            owner = named[kind, name]
            pods[name] = check_pod(owner, owner["spec"]["template"], named, options)
    ports = {name: {p["name"] for c in named[key]["spec"]["template"]["spec"]["containers"] for p in c["ports"]}
             for key in named for name in [key[1]] if key[0] in ("StatefulSet", "Deployment")}

    def selected(selector):
        return [name for name, labels in pods.items() if labels_match(selector, labels)]

    for o in objects:
        kind, name, spec = o["kind"], o["metadata"]["name"], o.get("spec", {})
        if kind == "Service":
            targets = selected(spec["selector"])
            need(len(targets) == 1, f"Service {name} selects {targets}")
            for port in spec["ports"]:
                need(all(port["targetPort"] in ports[t] for t in targets), f"Service {name}: port {port}")
        elif kind == "PodDisruptionBudget":
            need(len(selected(spec["selector"]["matchLabels"])) == 1, f"PodDisruptionBudget {name} selects no pod")
        elif kind == "NetworkPolicy":
            own = selected(spec["podSelector"]["matchLabels"])
            need(len(own) == 1, f"NetworkPolicy {name} selects no pod")
            for rule in spec["ingress"]:
                need(all(p["port"] in ports[own[0]] for p in rule["ports"]), f"NetworkPolicy {name}: {rule['ports']}")
            for rule in spec["ingress"] + spec["egress"]:
                for peer in rule.get("from", []) + rule.get("to", []):
                    if "podSelector" in peer:
                        need(selected(peer["podSelector"]["matchLabels"]), f"NetworkPolicy {name}: nobody is {peer}")
    replicas = named["StatefulSet", "hindsight"]
    need("replicas" not in replicas["spec"], "the StatefulSet sets the number that the autoscaler sets")
    need(named["Service", replicas["spec"]["serviceName"]]["spec"]["clusterIP"] == "None", "the names need a headless Service")
    scaler = named["HorizontalPodAutoscaler", "hindsight"]["spec"]
    need((scaler["scaleTargetRef"]["kind"], scaler["scaleTargetRef"]["name"]) in named, "the autoscaler has no target")
    pod = replicas["spec"]["template"]["spec"]
    settings = json.loads(next(o["data"]["hindsight.json"] for o in objects if "hindsight.json" in o.get("data", {})))
    drain = settings["drain_wait_seconds"] + int(options["request_seconds"]) + STORES_S
    need(pod["terminationGracePeriodSeconds"] > drain, f"the pod is killed before {drain} s have passed")
    cpu = int(pod["containers"][0]["resources"]["requests"]["cpu"])
    need(settings["threads"] == cpu, "threads are not the processors of the pod")
    balancer = named["Deployment", "hindsight-balancer"]["spec"]
    variables = {v["name"]: v.get("value") for v in balancer["template"]["spec"]["containers"][0]["env"]}
    need(int(variables["REPLICAS_MAX"]) >= scaler["maxReplicas"], "the balancer knows fewer replicas than there may be")
    need(int(variables["MAXCONN"]) * balancer["replicas"] == 16 * settings["threads"], "MAXCONN is not 16 for each thread")


def check_compose(path, options):
    with open(path, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    services = document["services"]
    replicas = [name for name, service in services.items() if service["image"] == "hindsight"]
    need(len(replicas) == 3, f"{len(replicas)} replicas")
    for name, service in services.items():
        need(set(service.get("depends_on", [])) <= set(services), f"{name} depends on what does not exist")
        check_variables(service.get("environment", {}), options, name)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            found = os.path.exists(os.path.join(os.path.dirname(path), source)) if source.startswith(".") \
                else source in document["volumes"]
            need(found, f"{name}: {source} does not exist")
        for port in service.get("ports", []):
            need(port.startswith("127.0.0.1:"), f"{name}: {port} is open to the network")
        if name not in replicas:
            need(re.search(r":v?\d", service["image"]), f"{name}: the image has no version")
    command = " ".join(services["balancer"]["command"])
    for name in replicas:
        need(f" {name}:8080 " in command, f"the balancer does not know {name}")
    need(len({service["volumes"][0] for n, service in services.items() if n in replicas}) == 3, "replicas share a volume")


def check_envoy(path):
    with open(path, encoding="utf-8") as file:
        resources = yaml.safe_load(file)["static_resources"]
    manager = resources["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    clusters = {cluster["name"]: cluster for cluster in resources["clusters"]}
    routes = manager["route_config"]["virtual_hosts"][0]["routes"]
    for route in routes:
        need("direct_response" in route or route["route"]["cluster"] in clusters, f"envoy: {route['match']}")
    hashed = [r for r in routes if "hash_policy" in r.get("route", {})]
    need(len(hashed) == 1, "envoy: one route hashes")
    rewrite = hashed[0]["route"]["hash_policy"][0]["header"]["regex_rewrite"]
    for rest in ("", "/hits", "?brief=1", "/ticks?brief=1"):
        key = re.sub(rewrite["pattern"]["regex"], rewrite["substitution"], "/v1/matches/m-1" + rest)
        need(key == "m-1", f"envoy: the key of {rest} is {key}")
    cluster = clusters["replicas"]
    need(cluster["lb_policy"] == "RING_HASH", "envoy: no ring")
    need(cluster["common_lb_config"]["healthy_panic_threshold"]["value"] == 0, "envoy: panic")
    need(manager["route_config"]["virtual_hosts"][0]["retry_policy"]["retry_on"] == "connect-failure", "envoy: retries")
    need(manager["http_filters"][-1]["name"] == "envoy.filters.http.router", "envoy: the router is the last filter")
    with open("openapi.yaml", encoding="utf-8") as file:
        contract = file.read()
    bodies = [m["body_format_override"] for m in manager["local_reply_config"]["mappers"]]
    for body in bodies + [manager["local_reply_config"]["body_format"]]:
        problem = body["json_format"]
        need(problem["type"] == "urn:hindsight:problem:" + problem["code"], f"envoy: {problem['type']}")
        need(f"{problem['code']}" in contract, f"envoy: {problem['code']} is not in openapi.yaml")


known = read_options(sys.argv[1])
if sys.argv[2] == "kubernetes":
    check_kubernetes(known)
elif sys.argv[2] == "compose":
    check_compose(sys.argv[3], known)
else:
    check_envoy(sys.argv[3])
print("\n".join(f"{sys.argv[2]}: {fault}" for fault in faults), end="\n" if faults else "")
sys.exit(1 if faults else 0)
